package workload

import "testing"

// A shape is the lengths that come.
func TestShape(t *testing.T) {
	spec := small()
	spec.Prompt.Thread = nil
	w, source := open(t, spec, 50, 1)
	sum, want := 0.0, 0.0
	for _, r := range take(source, 3000) {
		s := w.Shape(int(r.Key))
		if len(r.Prompt) != 4 || r.Prompt[0].Tokens != s.Template || r.Prompt[1].Tokens != s.Context {
			t.Fatalf("key %d: prompt %+v, shape %+v", r.Key, r.Prompt, s)
		}
		found := false
		for v, tokens := range s.Retrieved {
			found = found || r.Prompt[2].ID == identity(Retrieved, w.hashes[r.Key], uint64(v)) && r.Prompt[2].Tokens == tokens
		}
		if !found {
			t.Fatalf("key %d: retrieved %+v is none of %v", r.Key, r.Prompt[2], s.Retrieved)
		}
		sum += float64(r.Prompt[3].Tokens + r.OutputTokens)
		want += s.Turn + s.Output
	}
	if off := sum/want - 1; off < -0.05 || off > 0.05 {
		t.Errorf("turns and answers are off by %.3f", off)
	}
}
