package results

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
