package workload

// Shape is the lengths in tokens of the prompts and answers of a key, in the
// order of the prompt.
type Shape struct {
	Template, Context int32
	Retrieved         []int32 // of each of its retrieved blocks
	Turn, Output      float64 // means
}

// Shape is that of a key. A thread's history is not part of it.
func (w *Synthetic) Shape(key int) Shape {
	s := Shape{Template: w.template.Tokens, Context: w.contexts[key].Tokens, Turn: w.turn.Mean(), Output: w.output.Mean()}
	draw := newDraw()
	for v := range w.variants {
		id := identity(Retrieved, w.hashes[key], uint64(v))
		s.Retrieved = append(s.Retrieved, w.retrieved.Draw(draw.at(w.keys.Seed, id)))
	}
	return s
}
