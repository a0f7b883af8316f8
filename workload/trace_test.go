package workload

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cacheroute/sim/clock"
	"cacheroute/workload/trace"
)

// moonLine is one row of a Mooncake trace.
func moonLine(ms, input, output int, ids ...uint64) string {
	return fmt.Sprintf(`{"timestamp": %d, "input_length": %d, "output_length": %d, "hash_ids": %s}`,
		ms, input, output, strings.ReplaceAll(fmt.Sprint(ids), " ", ", "))
}

// threeRows are out of order; the first and last share two blocks.
var threeRows = strings.Join([]string{
	moonLine(3000, 1500, 20, 0, 18446744073709551615, 7),
	moonLine(1000, 400, 0, 9),
	moonLine(6000, 1024, 5, 0, 18446744073709551615),
}, "\n")

func readText(text string, opt TraceOptions) (*Trace, error) {
	t, _, err := readTextTree(text, opt)
	return t, err
}

func readTextTree(text string, opt TraceOptions) (*Trace, *tree, error) {
	dir, err := os.MkdirTemp("", "trace")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "t.jsonl") // whatever the format
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return nil, nil, err
	}
	return readTree(path, opt)
}

func keyed(rule string) TraceOptions {
	return TraceOptions{Options: trace.Options{Key: rule}}
}

func blocksOf(tokens int) TraceOptions {
	return TraceOptions{Options: trace.Options{BlockTokens: tokens}}
}

func forced() TraceOptions { return TraceOptions{Options: trace.Options{Force: true}} }

func spreadKeys(rule string) TraceOptions {
	opt := keyed(rule)
	opt.SpreadTies = true
	return opt
}

func mustRead(t interface{ Fatal(...any) }, text string, opt TraceOptions) *Trace {
	trace, err := readText(text, opt)
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

func TestTraceHeader(t *testing.T) {
	text := threeRows + "\n" + `{"timestamp": 6000, "input_length": 0, "output_length": 5, "hash_ids": [], "x": {"a": [1]}}` + "\n\n"
	trace := mustRead(t, text, TraceOptions{})
	h := trace.Header()
	if h.RowsRead != 4 || h.RowsKept != 3 || h.Dropped["no input"] != 1 || h.Failed != 1 || h.UnknownMembers != 1 || h.Inversions != 1 {
		t.Errorf("header %+v", h)
	}
	if h.Format != "mooncake" || h.BlockTokens != 512 || h.DistinctTimes != 3 || h.ResolutionUS != 2e6 || h.T0US != 1e6 || h.SpanS != 5 || h.QPS != 0.4 {
		t.Errorf("header %+v", h)
	}
	near(t, "mean prompt", h.Figures.PromptTokens, (1500.0+400+1024)/3, 1e-9)
	near(t, "mean output, a failed row as 1", h.Figures.OutputTokens, 26.0/3, 1e-9)
	near(t, "CV of gaps of 2 and 3 s", h.Figures.GapCV, 0.2, 1e-9)
	// Of the last row, all but the block of its last token.
	near(t, "ideal hit", h.IdealHit, (1024.0-16)/2924, 1e-9)
	var b bytes.Buffer
	if err := h.Print(&b); err != nil || !strings.Contains(b.String(), "4 read, 3 kept (1 without output, replayed as 1 token), 1 dropped (no input); unknown members: \"x\"\n") {
		t.Errorf("%v: %s", err, b.String())
	}
}

func TestReplayKeepsOrderAndScalesTime(t *testing.T) {
	trace := mustRead(t, threeRows, TraceOptions{})
	for _, speed := range []float64{1, 2, 0.001, 3} {
		source, err := trace.Open(trace.QPS()*speed, clock.Streams{})
		if err != nil {
			t.Fatal(err)
		}
		requests := take(source, 9)
		if len(requests) != 3 {
			t.Fatalf("%d requests", len(requests))
		}
		for i, want := range []struct {
			atMS           float64
			prompt, output int32
		}{{0, 400, 1}, {2000, 1500, 20}, {5000, 1024, 5}} {
			r := requests[i]
			checkRequest(t, &r, trace.Keys())
			near(t, "arrival in ps", float64(r.At), want.atMS*1e9/speed, 1)
			if r.Index != int64(i) || r.PromptTokens != want.prompt || r.OutputTokens != want.output {
				t.Errorf("request %d is %+v", i, r)
			}
		}
		if n := sharedTokens(requests[1].Prompt, requests[2].Prompt); n != 1024 {
			t.Errorf("%d tokens shared, wanted two blocks", n)
		}
	}
	_, err := trace.Open(1e-6, clock.Streams{})
	if err != nil {
		t.Error(err)
	}
	_, err = mustRead(t, moonLine(0, 1, 1, 1)+"\n"+moonLine(9e12, 1, 1, 1), forced()).Open(1e-6, clock.Streams{})
	if err != nil {
		t.Error(err)
	}
	_, err = mustRead(t, strings.Repeat(moonLine(0, 1, 1, 1)+"\n", 99)+moonLine(9e12, 1, 1, 1), forced()).Open(1e-6, clock.Streams{})
	wantError(t, err, "offered load: ", "no clock holds")
}

func TestReplayAtRecordedSpeedIsExact(t *testing.T) {
	trace := mustRead(t, moonLine(5, 1, 1, 1)+"\n"+moonLine(12, 1, 1, 1)+"\n"+moonLine(123456789, 1, 1, 1), TraceOptions{})
	source, err := trace.Open(trace.QPS(), clock.Streams{})
	if err != nil {
		t.Fatal(err)
	}
	for i, ms := range []clock.Time{0, 7, 123456784} {
		if got := take(source, 1)[0].At; got != ms*clock.Millisecond {
			t.Errorf("request %d at %v", i, got)
		}
	}
}

func TestReplayDoesNotAllocateAndPromptsAreSafe(t *testing.T) {
	trace := mustRead(t, threeRows, TraceOptions{})
	var r Request
	source, _ := trace.Open(1, clock.Streams{})
	source.Next(&r)
	r.Append(77, Turn, 5)
	again, _ := trace.Open(1, clock.Streams{})
	for _, q := range take(again, 3) {
		checkRequest(t, &q, trace.Keys())
	}
	source, _ = trace.Open(1, clock.Streams{})
	if n := testing.AllocsPerRun(1, func() { source.Next(&r) }); n > 0 {
		t.Errorf("%v allocations a request", n)
	}
}

func TestKeyRules(t *testing.T) {
	var rows []string
	for i := range 40 {
		// One first block, four second blocks, twenty third blocks.
		rows = append(rows, moonLine(i*100, 1500, 5, 1, uint64(10+i%4), uint64(100+i%20)))
	}
	text := strings.Join(rows, "\n")
	for rule, want := range map[string]struct {
		keys int
		rule string
	}{
		"": {20, "prefix:3 (auto)"}, "auto": {20, "prefix:3 (auto)"}, "prefix:1": {1, "prefix:1"}, "prefix:2": {4, "prefix:2"},
		"prefix:9": {20, "prefix:9"}, "none": {1, "none"},
	} {
		trace := mustRead(t, text, keyed(rule))
		if h := trace.Header(); trace.Keys() != want.keys || h.KeyRule != want.rule || h.Figures.Keys != want.keys {
			t.Errorf("%q: %d keys by %s", rule, trace.Keys(), h.KeyRule)
		}
		rates, err := trace.Rates(10)
		if err != nil || len(rates) != want.keys || len(trace.KeyHashes()) != want.keys {
			t.Errorf("%q: rates %v, %v", rule, rates, err)
		}
		near(t, "rate of the first key", rates[0], 10/float64(want.keys), 1e-9)
	}
	for _, rule := range []string{"prefix:0", "prefix:", "prefix:x", "depth:1", "\x1b"} {
		_, err := readText(text, keyed(rule))
		wantError(t, err, "key: read ", "wanted auto, none, session, field, field:NAME or prefix:")
	}
}

// The recorded clock of Mooncake ticks every 3 s with 1 ms of jitter.
func TestSpreadTies(t *testing.T) {
	var rows []string
	ms := 0
	for i := range 2000 {
		for j := range 1 + i%5 {
			rows = append(rows, moonLine(ms, 10+j, 1, uint64(j)))
		}
		ms += []int{3000, 2999, 3001}[i%3]
	}
	rows = append(rows, moonLine(ms, 1, 1, 1), moonLine(ms+4, 1, 1, 1)) // one fluke
	text := strings.Join(rows, "\n")
	plain := mustRead(t, text, TraceOptions{})
	spread := mustRead(t, text, TraceOptions{SpreadTies: true, Options: trace.Options{Seed: 5}})
	near(t, "resolution", float64(spread.Header().ResolutionUS), 3e6, 1000)
	if h := spread.Header(); !h.Spread || h.DistinctTimes != plain.Header().DistinctTimes {
		t.Errorf("header %+v", h)
	}
	// Places in the tick, less that of the first request, which is at 0.
	var sum, least, most float64
	for i, row := range spread.rows {
		was := plain.rows[i]
		if was.input != row.input || was.leaf != row.leaf {
			t.Fatalf("row %d is another one after spreading", i)
		}
		if i > 0 && row.at < spread.rows[i-1].at {
			t.Fatalf("row %d comes before the one above it", i)
		}
		place := float64(row.at - was.at)
		sum, least, most = sum+place, min(least, place), max(most, place)
	}
	near(t, "mean place", sum/float64(len(spread.rows))-least, 1.5e6, 0.05e6)
	near(t, "range of places", most-least, 3e6, 0.01e6)
	again := mustRead(t, text, TraceOptions{SpreadTies: true, Options: trace.Options{Seed: 5}})
	other := mustRead(t, text, TraceOptions{SpreadTies: true, Options: trace.Options{Seed: 6}})
	if !slices.Equal(again.rows, spread.rows) || slices.Equal(other.rows, spread.rows) {
		t.Error("the seed alone must decide the places")
	}
}

func TestTraceErrors(t *testing.T) {
	good := moonLine(0, 600, 5, 1, 2) + "\n"
	for _, c := range []struct{ name, text, want string }{
		{"one instant", good + good, "t.jsonl: all 2 requests arrive at one instant"},
		{"one row", good, "t.jsonl: all 1 requests"},
		{"rate", strings.Repeat(good, 99) + moonLine(1, 1, 1, 1), "is the unit ms right?"},
		{"span", good + moonLine(41e9, 1, 1, 1), "is the unit ms right?"},
	} {
		_, err := readText(c.text, TraceOptions{})
		t.Run(c.name, func(t *testing.T) { wantError(t, err, c.want) })
	}
	_, err := readText(good+moonLine(9, 5, 5, 1), keyed("field"))
	wantError(t, err, "t.jsonl: the key is to be field, but no row has one")
	_, err = readText(good+moonLine(9, 5, 5, 1), TraceOptions{Closed: true})
	wantError(t, err, "t.jsonl: a closed loop needs sessions")
	_, err = readText(good, TraceOptions{Prompt: &PromptModel{KeyTokens: -1}})
	wantError(t, err, "key_tokens: ")
	_, err = ReadTrace(t.TempDir(), TraceOptions{})
	wantError(t, err, "is a directory")
	_, err = ReadTrace("missing", TraceOptions{})
	wantError(t, err, "missing: no such file")
}

func TestForceAcceptsAnImplausibleTrace(t *testing.T) {
	text := moonLine(0, 1, 1, 1) + "\n" + moonLine(41e9, 1, 1, 1)
	if h := mustRead(t, text, forced()).Header(); h.SpanS != 41e6 {
		t.Errorf("header %+v", h)
	}
}
