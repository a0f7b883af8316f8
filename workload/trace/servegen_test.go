package trace

import (
	"context"
	"encoding/csv"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"cacheroute/workload/share"
)

// writeServeGen writes clients and their lengths and returns the folder.
func writeServeGen(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const serveGenDataset = `{"0": {"input_tokens": "{10: 0.25, 30: 0.75}", "output_tokens": "{7: 1.0}"}, "1200": {"input_tokens": "{500: 1}", "output_tokens": "{}"}}`

func twoClients() map[string]string {
	return map[string]string{
		"chunk-0-trace.csv":    "0,5,2,Gamma,0.25,0.8\n600,0,0,,0,0\n1200,1,1,Weibull,1,1",
		"chunk-0-dataset.json": serveGenDataset,
		"chunk-7-trace.csv":    "0,0.5,1,Gamma,1,2\n600,2,1,Weibull,0.7,1\n1200,0,0,,0,0\n",
		"chunk-7-dataset.json": serveGenDataset,
		"notes.txt":            "",
	}
}

func TestServeGen(t *testing.T) {
	dir := writeServeGen(t, twoClients())
	read := func(path string, seed uint64) []Row {
		r, err := Open(context.Background(), path, Options{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		rows, err := collect(r)
		if err != nil {
			t.Fatal(err)
		}
		if r.Header().Format != "servegen" || r.Header().PromptsKnown() {
			t.Errorf("header %+v", r.Header())
		}
		return rows
	}
	rows := read(dir, 1)
	count, inputs := map[string]int{}, map[int32]int{}
	var gaps []float64
	last := map[string]int64{}
	for i, r := range rows {
		window := r.At / 600e6
		count[fmt.Sprintf("%s in %d", r.Key, window)]++
		inputs[r.Input]++
		if r.Output != 7 || i > 0 && r.At < rows[i-1].At {
			t.Fatalf("row %d is %+v", i, r)
		}
		if before, ok := last[r.Key]; ok && r.Key == "0" && window == 0 {
			gaps = append(gaps, float64(r.At-before))
		}
		last[r.Key] = r.At
	}
	want := map[string]int{"0 in 0": 3000, "0 in 2": 600, "7 in 0": 300, "7 in 1": 1200}
	if !maps.Equal(count, want) {
		t.Errorf("requests %v, wanted %v", count, want)
	}
	if share := float64(inputs[30]) / float64(len(rows)); len(inputs) != 2 || math.Abs(share-0.75) > 0.03 {
		t.Errorf("input lengths %v", inputs)
	}
	var sum, squares float64
	for _, g := range gaps {
		sum, squares = sum+g, squares+g*g
	}
	n := float64(len(gaps))
	near(t, "CV of gaps of shape 0.25", math.Sqrt(squares/n/(sum/n)/(sum/n)-1), 2, 0.2)
	if !reflect.DeepEqual(read(dir, 1), rows) || reflect.DeepEqual(read(dir, 2), rows) {
		t.Error("the seed alone must decide what is drawn")
	}
	// A client draws the same alone.
	var own []Row
	for _, r := range rows {
		if r.Key == "7" {
			r.Line = 0
			own = append(own, r)
		}
	}
	alone := read(filepath.Join(dir, "chunk-7-trace.csv"), 1)
	for i := range alone {
		alone[i].Line = 0
	}
	if !reflect.DeepEqual(alone, own) {
		t.Errorf("%d requests of a client alone, %d among others", len(alone), len(own))
	}
}

func TestServeGenErrors(t *testing.T) {
	for _, c := range []struct{ file, text, want string }{
		{"chunk-0-trace.csv", "0,5,2,Gamma\n", "chunk-0-trace.csv:1: read 4 fields"},
		{"chunk-0-trace.csv", "0,5,2,Poisson,1,1\n", "chunk-0-trace.csv:1: pattern: read \"Poisson\""},
		{"chunk-0-trace.csv", "0,5,2,,1,1\n", "chunk-0-trace.csv:1: pattern: read \"\""},
		{"chunk-0-trace.csv", "0,-5,2,Gamma,1,1\n", "chunk-0-trace.csv:1: rate: read \"-5\""},
		{"chunk-0-trace.csv", "0,NaN,2,Gamma,1,1\n", "chunk-0-trace.csv:1: rate: read \"NaN\""},
		{"chunk-0-trace.csv", "0,5,2,Gamma,0,1\n", "chunk-0-trace.csv:1: read the shape 0"},
		{"chunk-0-trace.csv", "0,1e6,2,Gamma,1,1\n600,0,0,,0,0\n1200,0,0,,0,0\n", "more than 16777216 requests in a window"},
		{"chunk-7-trace.csv", "300,1,1,Gamma,1,1\n", "chunk-7-trace.csv:1: no window at 0 s"},
		{"chunk-7-trace.csv", "0,1,1,Gamma,1,1\n", "chunk-7-trace.csv:1: no window at 600 s"},
		{"chunk-0-dataset.json", "", "chunk-0-dataset.json: not JSON"},
		{"chunk-0-dataset.json", `{"0": {"input_tokens": "__import__('os')", "output_tokens": "{}"}}`, "window \"0\": input_tokens: read \"__import__('os')\""},
		{"chunk-0-dataset.json", `{"0": {"input_tokens": "{5: 0.5}", "output_tokens": "{1: 1}"}}`, "the shares sum to 0.5, wanted 1"},
		{"chunk-0-dataset.json", `{"0": {"input_tokens": "{-5: 1}", "output_tokens": "{1: 1}"}}`, "read \"-5: 1\", wanted tokens: share"},
		{"chunk-0-dataset.json", `{"0": {"input_tokens": "{}", "output_tokens": "{}"}}`, "requests, and no lengths for them"},
	} {
		files := twoClients()
		files[c.file] = c.text
		r, err := Open(context.Background(), writeServeGen(t, files), Options{})
		if err == nil {
			_, err = collect(r)
			r.Close()
		}
		wantError(t, err, c.want)
	}
	_, err := Open(context.Background(), t.TempDir(), Options{})
	wantError(t, err, "is a directory with 0 files chunk-N-trace.csv")
	dir := writeServeGen(t, map[string]string{"chunk-1-trace.csv": "0,5,2,Gamma,1,1\n"})
	_, err = Open(context.Background(), dir, Options{})
	wantError(t, err, "chunk-1-dataset.json: no such file")
}

// Shares of the published clients, as the folder of the data states them.
func TestPublishedServeGenClients(t *testing.T) {
	f, err := os.Open(filepath.Join(published, "servegen", "client_summary.csv"))
	if err != nil {
		t.Skip("no summary of ServeGen beside the project")
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	rates := map[string][]float64{}
	for _, row := range rows[1:] {
		rate, err := strconv.ParseFloat(row[slices.Index(rows[0], "mean_rate_req_s")], 64)
		if err != nil {
			t.Fatal(err)
		}
		name := row[0][strings.LastIndex(row[0], "/")+1:]
		rates[name] = append(rates[name], rate)
	}
	for name, want := range map[string]struct {
		clients         int
		gini, top, top4 float64
	}{"m-large": {162, 0.828, 0.160, 0.482}, "m-mid": {109, 0.871, 0.523, 0.648}, "m-small": {43, 0.839, 0.299, 0.518}, "mm-image": {35, 0.651, 0.135, 0.135}, "deepseek-r1": {73, 0.752, 0.286, 0.431}} {
		if len(rates[name]) != want.clients {
			t.Errorf("%s: %d clients", name, len(rates[name]))
		}
		near(t, name+": Gini", share.Gini(rates[name]), want.gini, 6e-4)
		near(t, name+": top client", share.Top(rates[name], 0), want.top, 6e-4)
		near(t, name+": top 4 %", share.Top(rates[name], 0.04), want.top4, 6e-4)
	}
}
