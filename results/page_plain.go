package results

import (
	"fmt"
	"html/template"
)

// PlainPage is what a page without scripts needs beside its text: the style of
// the report and a content security policy that allows it and nothing else.
type PlainPage struct {
	Policy template.HTML
	Style  template.CSS
}

// NewPlainPage reads the style of the report and adds more to it.
func NewPlainPage(more string) (PlainPage, error) {
	own, err := readAssets("page.css")
	if err != nil {
		return PlainPage{}, err
	}
	style := own[0] + more
	return PlainPage{
		Policy: template.HTML(fmt.Sprintf("default-src 'none'; style-src %s; img-src data:; base-uri 'none'; form-action 'none'", hashSource(style))),
		Style:  template.CSS(style),
	}, nil
}
