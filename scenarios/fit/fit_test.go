package fit

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cacheroute/results"
	"cacheroute/scenarios"
)

// The search has to come down a curved valley that is a hundred times as long
// as wide, from several seeds.
func TestCMAES(t *testing.T) {
	valley := func(x []float64) float64 {
		sum := 0.0
		for i := range x[1:] {
			sum += 100*math.Pow(x[i+1]-x[i]*x[i], 2) + math.Pow(1-x[i], 2)
		}
		return sum
	}
	for seed := range uint64(5) {
		c := newCMAES([]float64{-1, 2, 0, 1, -0.5}, 0.5, 10, rand.New(rand.NewPCG(seed, 0)))
		best := math.Inf(1)
		for range 600 {
			points := c.ask()
			losses := make([]float64, len(points))
			for i, p := range points {
				losses[i] = valley(p)
				best = min(best, losses[i])
			}
			c.tell(points, losses)
		}
		// 3.93 is the loss of the valley's other, local end.
		if best > 1e-9 && math.Abs(best-3.93) > 0.01 {
			t.Errorf("seed %d: %v after 6000 points, wanted 0", seed, best)
		}
	}
}

// spec reads testdata/spec.yaml with the rows that its study gives.
func spec(t *testing.T) *Spec {
	t.Helper()
	data, err := os.ReadFile("testdata/spec.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s := &Spec{hash: "of the test"}
	if err := scenarios.Decode("testdata/spec.yaml", data, s); err != nil {
		t.Fatal(err)
	}
	s.Targets.Rows = []Row{{Policy: "flat-lb", KVHit: 0.5, P99: 1, Capacity: []float64{20}}, {Policy: "cacheroute", KVHit: 0.5, P99: 1, Capacity: []float64{20}}}
	u, err := s.point(map[string]any{"workload.prompt.template_tokens": 500, "fleet.ttft_overhead_s": 0.2})
	if err != nil {
		t.Fatal(err)
	}
	_, scores, err := s.evaluate(context.Background(), u, &s.Stages[1], &scenarios.Tally{})
	if err != nil {
		t.Fatal(err)
	}
	for i, sc := range scores {
		s.Targets.Rows[i] = Row{Policy: sc.Policy, KVHit: sc.KVHit, P99: sc.P99, Capacity: sc.Capacity}
	}
	if err := s.check(); err != nil {
		t.Fatal(err)
	}
	return s
}

func search(t *testing.T, s *Spec, o Options) []byte {
	t.Helper()
	o.Tally = &scenarios.Tally{}
	r, err := s.Search(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := errors.Join(r.JSON(&b), r.Print(&b)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestFindsWhatMadeTheTable(t *testing.T) {
	s := spec(t)
	r, err := s.Search(context.Background(), Options{Tally: &scenarios.Tally{}})
	if err != nil {
		t.Fatal(err)
	}
	best := r.Optima[0].Values
	p := s.Parameters[0]
	at, _ := p.coordinate(best["workload.prompt.template_tokens"])
	if math.Abs(at-0.125) > 0.01 {
		t.Errorf("template of %s tokens, wanted about 500", best["workload.prompt.template_tokens"])
	}
	over := s.Parameters[1]
	at, _ = over.coordinate(best["fleet.ttft_overhead_s"])
	want, _ := over.coordinate(0.2)
	if math.Abs(at-want) > 0.01 {
		t.Errorf("overhead of %s s, wanted about 0.2", best["fleet.ttft_overhead_s"])
	}
	study, err := r.Study()
	if err != nil {
		t.Fatal(err)
	}
	if got := study.Fleet.TTFTOverheadS; math.Abs(got-0.2) > 0.02 {
		t.Errorf("the fitted study has an overhead of %v s", got)
	}
	for _, o := range r.Optima {
		if o.Start == "random-1" && o.Stage == 2 && r.Optima[0].Start == "far" {
			t.Errorf("two starts in a stage that keeps one")
		}
	}
}

// Neither workers nor an interruption changes a byte, and a journal cut at any
// line serves.
func TestResumesToTheSameBytes(t *testing.T) {
	s := spec(t)
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	open := func(resume bool) *Journal {
		j, err := s.OpenJournal(path, "code", resume)
		if err != nil {
			t.Fatal(err)
		}
		return j
	}
	j := open(false)
	want := search(t, s, Options{Workers: 2, Journal: j})
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if got := search(t, s, Options{Workers: 1}); !bytes.Equal(got, want) {
		t.Error("one worker and no journal give another result")
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, cut := range []int{0, 10, len(whole) / 2, len(whole) - 3} {
		if err := os.WriteFile(path, whole[:cut], 0o666); err != nil {
			t.Fatal(err)
		}
		j := open(true)
		if got := search(t, s, Options{Journal: j}); !bytes.Equal(got, want) {
			t.Errorf("resumed from %d of %d bytes: another result", cut, len(whole))
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		if again, _ := os.ReadFile(path); !bytes.Equal(again, whole) {
			t.Errorf("resumed from %d of %d bytes: another journal", cut, len(whole))
		}
	}
	if _, err := s.OpenJournal(path, "other code", true); err == nil || !strings.Contains(err.Error(), "journal.jsonl:1: ") {
		t.Errorf("the journal of another program: %v", err)
	}
	if err := os.WriteFile(path, append(bytes.SplitAfter(whole, []byte("\n"))[0], "no json\n"...), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := s.OpenJournal(path, "code", true); err == nil || !strings.Contains(err.Error(), "journal.jsonl:2: ") {
		t.Errorf("a damaged journal: %v", err)
	}
}

// A search that goes on with more generations than were tried before gives what
// it gives in one go: losses are of points, not of the name of a generation.
func TestResumesFromAShorterSearch(t *testing.T) {
	s := spec(t)
	want := search(t, s, Options{Workers: 2})
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	for _, generations := range []int{1, 0} {
		j, err := s.OpenJournal(path, "code", true)
		if err != nil {
			t.Fatal(err)
		}
		got := search(t, s, Options{Journal: j, Generations: generations})
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		if same := bytes.Equal(got, want); same != (generations == 0) {
			t.Errorf("at most %d generations: the result of the whole search: %v", generations, same)
		}
	}
}

// Requests that fail do not pass for the deadline at which they do.
func TestFailingLoadsDoNotPass(t *testing.T) {
	targets := &Targets{SLOs: []float64{2, 3}}
	m := &scenarios.Measure{DeadlineS: 1.5, MaxFailureRate: 0.05}
	for _, c := range []results.Cell{{TTFTP99: results.Float(math.Inf(1))}, {TTFTP99: results.Float(math.NaN())}, {TTFTP99: 1, FailureRate: 0.06}} {
		if got := targets.finite(&c, m); got <= 3 {
			t.Errorf("p99 %v with %v failed counts as %v, wanted more than the objectives", c.TTFTP99, c.FailureRate, got)
		}
	}
	if got := targets.finite(&results.Cell{TTFTP99: 1, FailureRate: 0.04}, m); got != 1 {
		t.Errorf("p99 of 1 counts as %v", got)
	}
}

func TestParameter(t *testing.T) {
	for _, c := range []struct {
		p    Parameter
		u    float64
		want string
	}{
		{Parameter{Path: "x", From: 0, To: 10}, 0.25, "2.5"},
		{Parameter{Path: "x", From: 0, To: 10}, -0.25, "2.5"},
		{Parameter{Path: "x", From: 0, To: 10}, 1.25, "7.5"},
		{Parameter{Path: "x", From: 0, To: 10}, 2.25, "2.5"},
		{Parameter{Path: "x", From: 1, To: 100, Scale: "log"}, 0.5, "10"},
		{Parameter{Path: "x", From: 1, To: 64, Scale: "log", Step: 1}, 0.51, "8"},
		{Parameter{Path: "x", From: 1, To: 2, Step: 0.3}, 1, "2"},
		{Parameter{Path: "x", Choices: []string{"a", "b"}}, 0.49, "a"},
		{Parameter{Path: "x", Choices: []string{"a", "b"}}, 1, "b"},
	} {
		if err := c.p.check(); err != nil {
			t.Error(err)
		}
		got := c.p.value(c.u)
		if got != c.want {
			t.Errorf("%+v at %v: %s, wanted %s", c.p, c.u, got, c.want)
		}
		if u, err := c.p.coordinate(got); err != nil || c.p.value(u) != got {
			t.Errorf("%+v: %s is at %v, %v, which is %s", c.p, got, u, err, c.p.value(u))
		}
	}
}

func TestScore(t *testing.T) {
	target := &Targets{AtQPS: 60, SLOs: []float64{3, 1}, LoadsQPS: []float64{30, 60, 80}}
	l := &ladder{
		loads: []float64{30, 60, 80}, hit: []float64{0.5, 0.6}, p99At: []float64{2, 2},
		p99: [][]float64{{1.5, 1.5}, {2, 2}, {4, 4.8}},
	}
	row := Row{Policy: "p", KVHit: 0.52, P99: 2.5, Capacity: []float64{60, 0}}
	s, smooth := target.score(&row, l)
	// At 3 s the p99 crosses so far on the way from 60 to 80, a seed.
	first, second := math.Log(1.5)/math.Log(2), math.Log(1.5)/math.Log(2.4)
	soft := (60 + 30*(first-0.5) + 60 + 30*(second-0.5)) / 2 // above the half: towards 80
	if first > 0.5 {
		soft += -10 * (first - 0.5) / 2
	}
	if second > 0.5 {
		soft += -10 * (second - 0.5) / 2
	}
	for i, want := range []float64{1, -1, 0, 0} {
		if math.Abs(s.Deviations[i]-want) > 1e-9 {
			t.Errorf("deviation %d: %v, wanted %v", i, s.Deviations[i], want)
		}
	}
	for i, want := range []float64{1, -1, scenarios.Rung(soft, target.LoadsQPS) - 2, 0} {
		if math.Abs(smooth[i]-want) > 1e-9 {
			t.Errorf("smooth deviation %d: %v, wanted %v", i, smooth[i], want)
		}
	}
	if s.Capacity[0] != 60 || s.Capacity[1] != 0 {
		t.Errorf("capacities %v, wanted 60 and 0", s.Capacity)
	}
	// An interval of 45 requests/s below and above 75 is a rung and three quarters
	// below, but no more than the top above.
	row.KVHitPM, row.Capacity, row.CapacityPM = 0.06, []float64{75, 0}, []float64{45, 0}
	if s, _ = target.score(&row, l); math.Abs(s.Deviations[0]-0.5) > 1e-9 || math.Abs(s.Deviations[2]+0.75/1.75) > 1e-9 {
		t.Errorf("within intervals: deviations %v, wanted 0.5 and -0.43", s.Deviations)
	}
	if _, smooth = target.score(&Row{KVHit: 0.5, P99: 2, Capacity: []float64{30, 30}}, l); smooth[3] > -0.5 {
		t.Errorf("fails at every load, wanted to pass at 30: deviation %v", smooth[3])
	}
	l.p99[0] = []float64{0.9, 0.9}
	if _, smooth = target.score(&Row{KVHit: 0.5, P99: 2, Capacity: []float64{30, 0}}, l); smooth[3] < 1 {
		t.Errorf("passes at 30, wanted to fail: deviation %v", smooth[3])
	}
}

// Capacities in the published order with the published lead cost little; each
// pair that is turned around costs about 1.
func TestOrder(t *testing.T) {
	target := &Targets{SLOs: []float64{1}, LoadsQPS: []float64{10, 20, 40, 80, 160}}
	for _, q := range []float64{10, 20, 80} {
		target.Rows = append(target.Rows, Row{Capacity: []float64{q}})
	}
	// knee crosses the objective half a rung above the load.
	knee := func(rung float64) *ladder {
		var l ladder
		for i, q := range target.LoadsQPS {
			l.loads = append(l.loads, q)
			l.p99 = append(l.p99, []float64{math.Exp(float64(i) - rung - 0.5)})
		}
		return &l
	}
	right := target.order([]*ladder{knee(0), knee(1), knee(3)})
	if right > 0.1 {
		t.Errorf("as published: %v, wanted about 0", right)
	}
	if got := target.order([]*ladder{knee(1), knee(0), knee(3)}) - right; math.Abs(got-1) > 0.01 {
		t.Errorf("a pair turned around: %v, wanted 1", got)
	}
	if got := target.order([]*ladder{knee(-9), knee(-9), knee(-9)}); math.IsInf(got, 0) || got < miss {
		t.Errorf("nobody passes any load: %v, wanted a finite miss", got)
	}
	if got := target.order([]*ladder{knee(0), knee(2), knee(3)}) - right; got < miss {
		t.Errorf("half of the lead: %v, wanted a miss", got)
	}
}

func TestBadSpecs(t *testing.T) {
	good, err := os.ReadFile("testdata/spec.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(good), "rows: []", "rows: [{policy: flat-lb, kv_hit: 0.5, ttft_p99_s: 1, capacity_qps: [20]}]", 1)
	for _, c := range []struct{ old, new, want string }{
		{"seed: 3", "sed: 3", "spec.yaml:20: "},
		{"population: 8", "population: 2", "population: read 2, wanted 4 to 10000"},
		{"to: 4000", "to: -1", "parameters.0: workload.prompt.template_tokens: from 0 to -1, wanted rising bounds"},
		{"from: 0.01", "from: 0", "wanted more than 0 on a log scale"},
		{"kv_hit: 0.5", "kv_hit: 50", "targets: rows.0: wanted policy, kv_hit in (0, 1]"},
		{"capacity_qps: [20]", "capacity_qps: [20], capacity_pm: [-1]", "targets: rows.0: wanted kv_hit_pm in [0, 1) and no capacity_pm"},
		{"rows: [{", "order: true\n  rows: [{", "targets: order: wanted two rows or more"},
		{"seeds: [1], loads_qps: [10, 20], gen", "seeds: [1, 1], loads_qps: [10, 20], gen", "stages.0.seeds: [1 1] has one twice"},
		{"loads_qps: [10, 20], gen", "loads_qps: [10, 20, 20], gen", "stages.0: wanted seeds and two or more rising loads_qps"},
		{"path: fleet.ttft_overhead_s", "path: workload.prompt.template_tokens", "parameters.1: workload.prompt.template_tokens is set twice"},
		{"rows: [{policy: flat-lb", "rows: [{policy: flat-lb, kv_hit: 0.5, ttft_p99_s: 1, capacity_qps: [20]}, {policy: flat-lb", "rows.1: policy flat-lb has two rows"},
		{"capacity_qps: [20]", "capacity_qps: [-20]", "targets: rows.0: wanted policy"},
		{"{name: far", "{name: random-1", "another start has the name \"random-1\""},
		{"loads_qps: [10, 20], gen", "loads_qps: [10, 40], gen", "stages.0.loads_qps: without 20"},
		{"fleet.ttft_overhead_s: 0.8", "fleet.ttft_overhead_s: 8", "starts.0: fleet.ttft_overhead_s: read 8, wanted a number between 0.01 and 1"},
		{"{workload.prompt.template_tokens: 3000", "{workload.prompt.context_tokens: 3000", "starts.0: at: names a field that is no parameter"},
		{"step: 0.3}", "step: 3}", "stages.0: wanted generations from 1, step in (0, 1]"},
	} {
		path := filepath.Join(t.TempDir(), "spec.yaml")
		bad := strings.Replace(text, c.old, c.new, 1)
		if bad == text {
			t.Fatalf("%q is not in the spec", c.old)
		}
		if err := os.WriteFile(path, []byte(bad), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, wanted %q", c.new, err, c.want)
		}
	}
	if _, err := Load(Table1); err != nil {
		t.Error(err)
	}
	if _, err := Load("none.yaml"); err == nil {
		t.Error("a file that is not there was read")
	}
}

// A point that the study refuses ends the search with the reason.
func TestSearchRefusesWhatTheStudyRefuses(t *testing.T) {
	s := spec(t)
	s.Parameters[0].Path = "fleet.destinatons"
	s.Starts = s.Starts[:0]
	_, err := s.Search(context.Background(), Options{Tally: &scenarios.Tally{}})
	if err == nil || !strings.Contains(err.Error(), "destinatons") {
		t.Errorf("a parameter that is no field: %v", err)
	}
	s = spec(t)
	s.Targets.Rows[0].Policy = "sticky"
	if _, err := s.Search(context.Background(), Options{Tally: &scenarios.Tally{}}); err == nil || !strings.Contains(err.Error(), "no policy sticky") {
		t.Errorf("a row of a policy that the study has not: %v", err)
	}
	s = spec(t)
	s.Set = map[string]any{"fleet.kv_blocks": 10}
	if _, err := s.Search(context.Background(), Options{Tally: &scenarios.Tally{}}); err == nil || !strings.Contains(err.Error(), "serves a single request") {
		t.Errorf("a cache that holds no prompt: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := spec(t).Search(ctx, Options{Tally: &scenarios.Tally{}}); !errors.Is(err, context.Canceled) {
		t.Errorf("a search that was told to stop: %v", err)
	}
}

// The fitted study of an input file runs wherever it is read.
func TestFittedStudyFindsItsFiles(t *testing.T) {
	text, err := os.ReadFile("testdata/study.yaml")
	if err != nil {
		t.Fatal(err)
	}
	specText, err := os.ReadFile("testdata/spec.yaml")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("in/rates.csv", "key,rate\na,3\nb,2\nc,1\n")
	write("testdata/study.yaml", strings.Replace(string(text), "keys: {name: zipf, exponent: 0.8, count: 12}", "keys: {name: rates, file: ../in/rates.csv}", 1))
	write("spec.yaml", strings.Replace(string(specText), "rows: []", "rows: [{policy: flat-lb, kv_hit: 0.5, ttft_p99_s: 1, capacity_qps: [20]}]", 1))
	write("elsewhere/out/x", "")
	t.Chdir(filepath.Join(dir, "elsewhere"))
	s, err := Load("../spec.yaml")
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Search(context.Background(), Options{Generations: 1, Tally: &scenarios.Tally{}})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.WriteFolder("out"); err != nil {
		t.Fatal(err)
	}
	// The journal knows the content of the input file, and is not overwritten by
	// that of another search.
	open := func(resume bool) error {
		j, err := s.OpenJournal("out/journal.jsonl", "code", resume)
		if err != nil {
			return err
		}
		return j.Close()
	}
	if err := errors.Join(open(false), open(true)); err != nil {
		t.Fatal(err)
	}
	write("in/rates.csv", "key,rate\na,1\nb,2\nc,1\n")
	for resume, want := range map[bool]string{true: "the journal of another spec or program", false: "the journal of another spec, wanted another folder"} {
		if err := open(resume); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("other rates, resume %v: %v, wanted %q", resume, err, want)
		}
	}
	t.Chdir(dir)
	fitted, err := scenarios.Load("elsewhere/out/study.yaml", scenarios.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := scenarios.Prepare(fitted, nil); err != nil {
		t.Error(err)
	}
}
