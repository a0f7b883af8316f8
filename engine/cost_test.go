package engine

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cacheroute/sim/clock"
)

// drawCost draws parameters of each cost model, by its name in CostModels.
var drawCost = map[string]func(*rapid.T) CostSpec{
	"linear": func(t *rapid.T) CostSpec {
		return &Linear{
			rapid.Float64Range(1e-9, 100).Draw(t, "base"), rapid.Float64Range(0, 1).Draw(t, "sequence"),
			rapid.Float64Range(0, 1e-3).Draw(t, "context"), rapid.Float64Range(0, 1).Draw(t, "prefill"),
			rapid.Float64Range(0, 1e-5).Draw(t, "attention"),
		}
	},
	"overlap": func(t *rapid.T) CostSpec {
		return &Overlap{
			rapid.Float64Range(1e-9, 100).Draw(t, "base"), rapid.Float64Range(0, 1).Draw(t, "sequence"),
			rapid.Float64Range(0, 1e-3).Draw(t, "context"), rapid.Float64Range(0, 1).Draw(t, "prefill"),
			rapid.IntRange(0, 500).Draw(t, "free tokens"), rapid.Float64Range(0, 1e-5).Draw(t, "attention"),
		}
	},
	"roofline": func(t *rapid.T) CostSpec {
		r := h100(70.55, 80, 8192, 128256, 64, 8)
		r.GPUs = rapid.SampledFrom([]int{1, 2, 8, 16}).Draw(t, "GPUs")
		r.ComputeEfficiency = rapid.Float64Range(0.01, 1).Draw(t, "compute")
		r.MemoryEfficiency = rapid.Float64Range(0.01, 1).Draw(t, "memory")
		r.OverheadMS = rapid.Float64Range(0, 10).Draw(t, "overhead")
		return r
	},
	"table": func(t *rapid.T) CostSpec {
		return &Table{Points: append(drawGrid(t, "decode", 300, func(p *TablePoint) *int { return &p.DecodeSequences }),
			drawGrid(t, "prefill", 9000, func(p *TablePoint) *int { return &p.PrefillTokens })...)}
	},
}

// drawGrid draws measured steps that take longer the larger they are.
func drawGrid(t *rapid.T, name string, most int, row func(*TablePoint) *int) []TablePoint {
	rows := rapid.SliceOfNDistinct(rapid.IntRange(1, most), 1, 4, rapid.ID).Draw(t, name+" rows")
	contexts := rapid.SliceOfNDistinct(rapid.IntRange(0, 5000), 1, 4, rapid.ID).Draw(t, name+" contexts")
	base := rapid.Float64Range(1e-8, 20).Draw(t, name+" base")
	each, token := rapid.Float64Range(0, 0.1).Draw(t, name+" row"), rapid.Float64Range(0, 1e-4).Draw(t, name+" token")
	var points []TablePoint
	for _, r := range rows {
		for _, c := range contexts {
			p := TablePoint{ContextTokens: c, StepMS: base + each*float64(r) + token*math.Sqrt(float64(r))*float64(c)}
			*row(&p) = r
			points = append(points, p)
		}
	}
	return points
}

// h100 is a model in bf16 on one H100 SXM.
func h100(parameters float64, layers, hidden, vocabulary, heads, kvHeads int) *Roofline {
	r := newRoofline()
	r.ParametersBillion, r.Layers, r.HiddenSize, r.Vocabulary = parameters, layers, hidden, vocabulary
	r.AttentionHeads, r.KVHeads, r.HeadDim = heads, kvHeads, 128
	r.WeightBytes, r.KVBytes, r.GPUs = 2, 2, 1
	r.PeakTFLOPS, r.MemoryGBS, r.InterconnectGBS = 989, 3350, 450
	return r
}

func eachModel(t *testing.T, f func(*rapid.T, CostModel)) {
	for name := range CostModels {
		t.Run(name, func(t *testing.T) {
			if drawCost[name] == nil {
				t.Fatal("no parameters are drawn for it")
			}
			rapid.Check(t, func(t *rapid.T) {
				spec := drawCost[name](t)
				if err := spec.Check(); err != nil {
					t.Fatal(err)
				}
				f(t, spec.Build())
			})
		})
	}
}

// A span of pure decode costs what its steps cost one by one, for every model
// that prices spans.
func TestSpanIsTheSumOfItsSteps(t *testing.T) {
	eachModel(t, func(t *rapid.T, m CostModel) {
		spans, ok := m.(SpanModel)
		if !ok {
			t.Skip("the model prices no spans")
		}
		n := rapid.IntRange(1, 400).Draw(t, "n")
		context := rapid.Int64Range(int64(n), int64(n)*6000).Draw(t, "context")
		k := rapid.Int64Range(1, 3000).Draw(t, "k")
		var sum clock.Time
		for i := range k {
			sum += m.StepTime(Batch{Decodes: n, DecodeContext: context + i*int64(n)})
		}
		if got := spans.DecodeSpan(n, context, k); got != sum {
			t.Fatalf("span %d ps, its %d steps %d ps", got, k, sum)
		}
	})
}

// drawBatch draws a step of chunks behind cached tokens and decoders.
func drawBatch(t *rapid.T) Batch {
	b := Batch{Decodes: rapid.IntRange(0, 512).Draw(t, "decodes")}
	b.DecodeContext = int64(b.Decodes) * rapid.Int64Range(1, 10000).Draw(t, "context")
	for range rapid.IntRange(0, 4).Draw(t, "chunks") {
		p, x := rapid.Int64Range(1, 8192).Draw(t, "chunk"), rapid.Int64Range(0, 30000).Draw(t, "before")
		b.Prefill += p
		b.PrefillWork += p * (2*x + p)
	}
	return b
}

// Time moves on in every step, and a step that computes more is not shorter.
func TestStepsArePositiveAndRise(t *testing.T) {
	eachModel(t, func(t *rapid.T, m CostModel) {
		small := drawBatch(t)
		large := small
		p := rapid.Int64Range(1, 1000).Draw(t, "more")
		large.Prefill += p
		large.PrefillWork += p * (2*40000 + p)
		longer := small
		longer.DecodeContext += int64(small.Decodes) * 100
		was := m.StepTime(small)
		if was < 1 || m.StepTime(large) < was || m.StepTime(longer) < was {
			t.Fatalf("%+v takes %d ps, with a chunk of %d more %d, with more context %d", small, was, p, m.StepTime(large), m.StepTime(longer))
		}
	})
}

// At the ends of their ranges the new models price absurd steps at longest
// rather than overflow.
func TestPricesDoNotOverflow(t *testing.T) {
	roofline := h100(1e4, 1000, 100, 100, 1e4, 1e4)
	roofline.MemoryGBS, roofline.MemoryEfficiency = 1, 0.01
	huge := Batch{Decodes: 1 << 20, DecodeContext: 1 << 51, Prefill: 1 << 24, PrefillWork: 1 << 60}
	for _, spec := range []CostSpec{
		&Overlap{1e6, 1e4, 10, 1e3, 1 << 20, 1e-3}, roofline,
		&Table{Points: []TablePoint{{1, 0, 0, 1e-9}, {2, 0, 0, 1e5}, {1, 0, 1, 1e5}, {2, 0, 1, 1e5}, {0, 1, 0, 1e-9}, {0, 2, 0, 1e5}}},
	} {
		if err := spec.Check(); err != nil {
			t.Fatal(err)
		}
		m := spec.Build().(SpanModel)
		if step, span := m.StepTime(huge), m.DecodeSpan(1<<20, 1<<51, 1<<31); step != longest || span != longest {
			t.Errorf("%T: step %d, span %d ps, want %d", spec, step, span, longest)
		}
		if one := m.StepTime(Batch{Decodes: 1, DecodeContext: 1}); one < 1 {
			t.Errorf("%T: a small step takes %d ps", spec, one)
		}
	}
}

// near compares a price with a formula in floating point; units is what
// coefficients, which are rounded to picoseconds once, are multiplied with.
func near(t *rapid.T, what string, got clock.Time, wantMS float64, units float64) {
	t.Helper()
	want := wantMS * 1e9
	if diff := math.Abs(float64(got) - want); !(diff <= units+10+1e-12*want) {
		t.Fatalf("%s: %d ps, the formula says %.0f", what, got, want)
	}
}

func units(b Batch) float64 {
	return float64(b.Decodes) + float64(b.Prefill) + float64(b.DecodeContext) + float64(b.PrefillWork)
}

func TestOverlapFormula(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := drawCost["overlap"](t).(*Overlap)
		b := drawBatch(t)
		m := float64(b.Decodes) + float64(b.Prefill)
		near(t, "step", o.Build().StepTime(b), o.BaseMS+o.PrefillMS*math.Max(0, m-float64(o.FreeTokens))+
			o.SequenceMS*float64(b.Decodes)+o.ContextMS*float64(b.DecodeContext)+o.AttentionMS*float64(b.PrefillWork), units(b))
	})
}

func TestRooflineFormula(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawCost["roofline"](t).(*Roofline)
		b := drawBatch(t)
		n, g := float64(b.Decodes), float64(r.GPUs)
		m := n + float64(b.Prefill)
		flops, bytes := g*989e12*r.ComputeEfficiency, g*3350e9*r.MemoryEfficiency
		heads := math.Max(8, g)
		s := math.Max((70.55e9-128256*8192)*2/bytes, 2*(70.55e9-2*128256*8192)*m/flops) +
			2*80*heads*128*2*(float64(b.DecodeContext)+m)/bytes + 4*80*64*128*float64(b.PrefillWork)/2/flops
		if g > 1 {
			s += 160 * (1e-5 + 2*(g-1)/g*8192*2*m/450e9)
		}
		near(t, "step", r.Build().StepTime(b), r.OverheadMS+0.04*n+s*1e3, units(b))
	})
}

// The defaults of the roofline come near the linear fits of measured runs on
// H100 SXM: InferenceMAX rows of vLLM for 70B fp8, AIConfigurator silicon rows
// for the others, vLLM 0.15.1 with warm prefixes for 70B bf16. Prefill is
// compared where the step is bound by computation.
func TestRooflineNearFits(t *testing.T) {
	type fit struct {
		name                         string
		spec                         *Roofline
		gpus                         int
		base, prefill, context, most float64
	}
	llama70, llama8 := h100(70.55, 80, 8192, 128256, 64, 8), h100(8.03, 32, 4096, 128256, 32, 8)
	fp8 := *llama70
	fp8.WeightBytes, fp8.PeakTFLOPS, fp8.ComputeEfficiency = 1, 1979, 0.5
	for _, f := range []fit{
		{"70B fp8 TP2", &fp8, 2, 16.55, 0.0687, 5.81e-5, 0.15},
		{"70B fp8 TP4", &fp8, 4, 11.02, 0.0446, 2.79e-5, 0.2},
		{"70B bf16 TP4", llama70, 4, 16.3, 0.060, 0, 0.1}, // too few rows for its context
		{"32B bf16 TP2", h100(32.76, 64, 5120, 151936, 64, 8), 2, 13.96, 0.0490, 5.42e-5, 0.1},
		{"8B bf16 TP1", llama8, 1, 6.43, 0.0196, 5.13e-5, 0.15},
	} {
		spec := *f.spec
		spec.GPUs = f.gpus
		m := spec.Build()
		ms := func(b Batch) float64 { return m.StepTime(b).Seconds() * 1e3 }
		for _, c := range []struct {
			what      string
			got, want float64
		}{
			{"base", ms(Batch{}), f.base},
			{"prefill token", (ms(Batch{Prefill: 3000}) - ms(Batch{Prefill: 2000})) / 1000, f.prefill},
			{"context token", (ms(Batch{Decodes: 1, DecodeContext: 1e5}) - ms(Batch{Decodes: 1})) / 1e5, f.context},
		} {
			if c.want == 0 {
				continue
			}
			t.Logf("%s: %s %.4g ms, fitted %.4g: %+.0f %%", f.name, c.what, c.got, c.want, 100*(c.got/c.want-1))
			if math.Abs(c.got/c.want-1) > f.most {
				t.Errorf("%s: %s is %.4g ms, more than %v off the fitted %.4g", f.name, c.what, c.got, f.most, c.want)
			}
		}
	}
}

// Every number of every model is refused when it is not a number, negative or
// absurd, by its name in YAML.
func TestCostChecksRefuse(t *testing.T) {
	for _, good := range []CostSpec{
		&Linear{BaseMS: 1}, &Overlap{BaseMS: 1}, h100(8.03, 32, 4096, 128256, 32, 8),
	} {
		if err := good.Check(); err != nil {
			t.Fatalf("%T: %v", good, err)
		}
		v := reflect.ValueOf(good).Elem()
		for i := range v.NumField() {
			field, old := v.Field(i), reflect.ValueOf(v.Field(i).Interface())
			name := v.Type().Field(i).Tag.Get("yaml")
			for _, bad := range []float64{math.NaN(), math.Inf(1), -1, 1e18} {
				if field.Kind() == reflect.Float64 {
					field.SetFloat(bad)
				} else if math.Abs(bad) <= 1e18 {
					field.SetInt(int64(bad))
				} else {
					continue
				}
				if err := good.Check(); err == nil || !strings.HasPrefix(err.Error(), name+": ") {
					t.Errorf("%T.%s = %v: error %v", good, name, bad, err)
				}
			}
			field.Set(old)
		}
	}
	ok := []TablePoint{{1, 0, 0, 5}, {0, 1, 0, 6}}
	for _, p := range []TablePoint{{1, 1, 0, 5}, {0, 0, 0, 5}, {-1, 0, 0, 5}, {2, 0, -1, 5}, {2, 0, 1 << 27, 5}, {2, 0, 0, math.NaN()}, {2, 0, 0, 0}, {2, 0, 0, 1e6}} {
		if err := (&Table{Points: append(ok[:2:2], p)}).Check(); err == nil || !strings.HasPrefix(err.Error(), "points.2.") {
			t.Errorf("%+v: error %v", p, err)
		}
	}
	tooMany := h100(1, 32, 4096, 128256, 32, 33)
	for name, spec := range map[string]CostSpec{
		"points": &Table{}, "base_ms": &Overlap{}, "kv_heads": tooMany, "parameters_billion": h100(1, 32, 4096, 128256, 32, 8),
	} {
		if err := spec.Check(); err == nil || !strings.HasPrefix(err.Error(), name+": ") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func BenchmarkCost(b *testing.B) {
	table := &Table{}
	for _, n := range []int{1, 4, 16, 64, 256} {
		for _, c := range []int{0, 256, 1024, 4096, 16384} {
			table.Points = append(table.Points, TablePoint{n, 0, c, 5 + float64(n*c)*1e-5}, TablePoint{0, 16 * n, c, 5 + float64(n*c)*1e-5})
		}
	}
	for _, spec := range []CostSpec{&Linear{BaseMS: 1, ContextMS: 1e-5}, &Overlap{BaseMS: 1, ContextMS: 1e-5}, table} {
		b.Run(strings.TrimPrefix(fmt.Sprintf("%T", spec), "*engine."), func(b *testing.B) {
			b.ReportAllocs()
			m := spec.Build().(SpanModel)
			var sum clock.Time
			for i := range b.N {
				sum |= m.DecodeSpan(30, int64(30*(500+i%8000)), 100)
			}
			if sum < 0 {
				b.Fatal(sum)
			}
		})
	}
}
