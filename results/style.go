package results

import (
	"fmt"
	"html/template"
)

// Head, Good, Bad and Faint paint text that has been set to its width. Nothing
// is told by colour alone.
func (st Style) Head(text string) string  { return st.paint(bold, text) }
func (st Style) Good(text string) string  { return st.paint(green, text) }
func (st Style) Bad(text string) string   { return st.paint(red, text) }
func (st Style) Faint(text string) string { return st.paint(dim, text) }

// Wrap breaks text that begins at a column at blanks, to the width of printed
// tables; further lines begin with the indent.
func Wrap(text string, column int, indent string) string {
	return wrapFrom(text, column, lineWidth, indent)
}

// PlainPage is what a page of tables needs: the style of the report with more
// of its own, and the content security policy that allows it and nothing else,
// no script and no request.
func PlainPage(more string) (style template.CSS, policy template.HTML, err error) {
	own, err := readAssets("page.css")
	if err != nil {
		return "", "", err
	}
	text := own[0] + more
	return template.CSS(text), template.HTML(fmt.Sprintf("default-src 'none'; style-src %s; img-src data:; base-uri 'none'; form-action 'none'", hashSource(text))), nil
}
