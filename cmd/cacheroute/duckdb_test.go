package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cacheroute/results"
)

const duckFolder = "../../tools/duckdb"

// answer is what query.mjs prints of a statement.
type answer struct {
	Columns []string `json:"columns"`
	Rows    [][]any  `json:"rows"`
}

// duckdb runs the statements in the folder.
func duckdb(t *testing.T, dir string, statements []string) []answer {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("no node: DuckDB does not read the files")
	}
	if _, err := os.Stat(filepath.Join(duckFolder, "node_modules/@duckdb/node-api")); err != nil {
		t.Skip("no DuckDB (npm ci --prefix tools/duckdb): it does not read the files")
	}
	in, err := json.Marshal(statements)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command("node", filepath.Join(duckFolder, "query.mjs"), dir)
	var stderr bytes.Buffer
	c.Stdin, c.Stderr = bytes.NewReader(in), &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	var answers []answer
	if err := json.Unmarshal(out, &answers); err != nil || len(answers) != len(statements) {
		t.Fatalf("%d answers to %d statements, %v", len(answers), len(statements), err)
	}
	return answers
}

// duckStudy has named keys, a warm-up, and a load at which p99 is infinite.
const duckStudy = `name: duck
fleet: {destinations: 3, preset: llama-3.1-8b-bf16-h100-tp1}
workload:
  keys: {name: rates, file: %s}
  prompt: {template_tokens: 600, context_tokens: 2000, retrieved_tokens: 200, variants: 4, stay_probability: 0.33, turn_tokens: 300}
  output_tokens: {name: lognormal, mean: 40, sigma: 0.6}
policies: [flat-lb, {name: cacheroute, slots: 4}]
loads_qps: [10, 40, 900]
seeds: [1, 2]
measure: {warmup_s: 1, duration_s: 4, deadline_s: 1, slo_ttft_p99_s: [3.5]}
`

// duckRun runs the study and returns its folder and summary.
func duckRun(t *testing.T) (string, results.Summary) {
	t.Helper()
	dir := t.TempDir()
	rates, err := filepath.Abs("../../docs/examples/rates.csv")
	if err != nil {
		t.Fatal(err)
	}
	study := filepath.Join(t.TempDir(), "study.yaml")
	if err := os.WriteFile(study, fmt.Appendf(nil, duckStudy, rates), 0o666); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	args := []string{"run", study, "--requests", "--out", dir, "--progress", "none"}
	if code := run(context.Background(), args, &bytes.Buffer{}, &stderr); code != exitDone {
		t.Fatalf("exit code %d: %s", code, &stderr)
	}
	s, err := results.ReadSummary(filepath.Join(dir, "summary.json"))
	if err != nil {
		t.Fatal(err)
	}
	return dir, s
}

// duckCells counts, by kind, the cells that the requests contradict.
const duckCells = `
WITH ranked AS (
  SELECT *, CASE status WHEN 'completed' THEN ttft_ps / 1e12 ELSE 'Infinity'::DOUBLE END AS ttft_s,
         hit_template_tokens + hit_context_tokens + hit_retrieved_tokens + hit_history_tokens + hit_turn_tokens + hit_prefix_tokens AS hit,
         row_number() OVER (PARTITION BY policy, load_qps, seed, measured ORDER BY ttft_s) AS rank,
         count(*) OVER (PARTITION BY policy, load_qps, seed, measured) AS n
  FROM 'requests.parquet'
), again AS (
  SELECT policy, load_qps, seed, count(*) AS all_requests, count(*) FILTER (measured) AS n,
         count(*) FILTER (measured AND status = 'completed') AS completed,
         count(*) FILTER (measured AND status = 'timed_out') AS timed_out,
         sum(preemptions) FILTER (measured) AS preemptions,
         max(ttft_s) FILTER (measured AND rank = (99 * n + 99) // 100) AS p99,
         (sum(hit) FILTER (measured AND admitted))::DOUBLE / (sum(prompt_tokens) FILTER (measured AND admitted))::DOUBLE AS kv_hit
  FROM ranked GROUP BY ALL
)
SELECT count(*), count(again.policy),
       count(*) FILTER (all_requests <> run_requests), count(*) FILTER (n <> requests), count(*) FILTER (again.completed <> c.completed),
       count(*) FILTER (again.timed_out <> c.timed_out), count(*) FILTER (again.preemptions <> c.preemptions),
       count(*) FILTER (p99 <> ttft_p99_s), count(*) FILTER (again.kv_hit <> c.kv_hit)
FROM 'cells.parquet' AS c LEFT JOIN again USING (policy, load_qps, seed)`

// duckNulls counts rows with a null too few or too many, then the nulls.
const duckNulls = `
SELECT count(*) FILTER ((ttft_ps IS NULL) <> (emitted_tokens = 0)),
       count(*) FILTER ((tpot_ps IS NULL) <> (status <> 'completed' OR emitted_tokens < 2)),
       count(*) FILTER (e2e_ps IS NULL OR arrival_ps IS NULL OR status IS NULL OR key_name IS NULL OR key_name NOT LIKE 'tenant-%'),
       count(*) FILTER (ttft_ps IS NULL) > 0, count(*) FILTER (tpot_ps IS NULL AND ttft_ps IS NOT NULL) > 0
FROM 'requests.parquet'`

// TestDuckDB: another program reads the Parquet files, finds in the requests
// what the cells say, and runs every query of docs/files.md.
func TestDuckDB(t *testing.T) {
	dir, summary := duckRun(t)
	page, err := os.ReadFile("../../docs/files.md")
	if err != nil {
		t.Fatal(err)
	}
	statements := []string{duckCells, duckNulls}
	for _, b := range regexp.MustCompile("(?s)\n```sql\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		statements = append(statements, b[1])
	}
	answers := duckdb(t, dir, statements)
	if got := fmt.Sprint(answers[0].Rows); got != "[[12 12 0 0 0 0 0 0 0]]" {
		t.Errorf("cells, cells with requests, and contradictions of each kind: %s", got)
	}
	if got := fmt.Sprint(answers[1].Rows); got != "[[0 0 0 true true]]" {
		t.Errorf("wrong nulls of TTFT, TPOT and others; whether there are right ones: %s", got)
	}
	answers = answers[2:]
	if len(answers) < 8 {
		t.Errorf("%d queries in docs/files.md", len(answers))
	}
	for i, a := range answers {
		if len(a.Rows) == 0 {
			t.Errorf("no row: %s", statements[2+i])
		}
	}
	infinite := 0
	var p99, hits, knees []string
	for _, c := range summary.Cells {
		p99 = append(p99, fmt.Sprint([]any{c.Policy, c.LoadQPS, c.Seed, number(c.TTFTP99)}))
		hits = append(hits, fmt.Sprint([]any{c.Policy, c.LoadQPS, c.Seed, number(c.KVHit), number(c.KVHitTemplate),
			number(c.KVHitContext), number(c.KVHitRetrieved), number(c.KVHitHistory), number(c.KVHitTurn), number(c.KVHitPrefix)}))
		if !c.TTFTP99.Finite() {
			infinite++
		}
	}
	for _, c := range summary.Capacity {
		knees = append(knees, fmt.Sprint([]any{c.Policy, number(c.QPS.Mean)}))
	}
	if infinite == 0 || infinite == len(summary.Cells) {
		t.Errorf("%d of %d cells have an infinite p99", infinite, len(summary.Cells))
	}
	sameRows(t, answers, "policy load_qps seed ttft_p99_s", p99)
	sameRows(t, answers, "policy load_qps seed kv_hit template context retrieved history turn prefix", hits)
	sameRows(t, answers, "policy capacity_qps", knees)
}

// number is a figure as DuckDB's JSON has it.
func number(f results.Float) any {
	if !f.Finite() {
		return "Infinity"
	}
	return float64(f)
}

// sameRows looks for the answer that begins with the columns and compares it
// with the rows wanted, in any order.
func sameRows(t *testing.T, answers []answer, columns string, want []string) {
	t.Helper()
	n := len(strings.Fields(columns))
	for _, a := range answers {
		if len(a.Columns) < n || strings.Join(a.Columns[:n], " ") != columns {
			continue
		}
		var got []string
		for _, row := range a.Rows {
			got = append(got, fmt.Sprint(row[:n]))
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s:\ngot  %v\nwant %v", columns, got, want)
		}
		return
	}
	t.Errorf("no query of docs/files.md has the columns %s", columns)
}
