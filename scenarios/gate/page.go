package gate

import (
	_ "embed"
	"html/template"
	"io"

	"cacheroute/results"
)

//go:embed gate.html
var pageText string

var pageTemplate = template.Must(template.New("gate.html").Funcs(template.FuncMap{"percent": percent}).Parse(pageText))

// gatePage is what the template shows.
type gatePage struct {
	*Report
	results.PlainPage
	Title, Order, PlanWords, Evidence string
	Sections                          []section
}

// page writes one page without scripts and without any request to a network.
func (r *Report) page(w io.Writer) error {
	plain, err := results.NewPlainPage("")
	if err != nil {
		return err
	}
	return pageTemplate.Execute(w, &gatePage{r, plain, r.title(), r.order(), r.planWords(), r.Evidence.words(), r.sections()})
}
