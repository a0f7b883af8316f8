package trace

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const blisHead = `trace_version: 2
time_unit: microseconds
mode: real
warm_up_requests: 1
workload_seed: 42
session_context_growth: accumulate
server: {model: m, tensor_parallel: 1, block_size: 16}
network: {measured_rtt_ms: 0.4}
`

const blisRows = `request_id,client_id,tenant_id,slo_class,session_id,round_index,prefix_group,prefix_length,streaming,input_tokens,output_tokens,server_input_tokens,arrival_time_us,send_time_us,first_chunk_time_us,last_chunk_time_us,num_chunks,status,error_message,finish_reason,think_time_us
0,c1,acme,std,s,0,shared,40,true,100,5,117,1000,1700000000000000,1700000000050000,1700000000090000,5,ok,,stop,0
1,c1,acme,std,s,1,shared,40,true,120,5,0,901000,0,0,0,0,ok,,stop,800000
2,c2,,std,,0,,0,true,30,0,0,950000,1700000000950000,0,0,0,error,timeout,,0
`

// writeBLIS writes a trace and its header and returns the path of the trace.
func writeBLIS(t *testing.T, head, rows string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"run.csv": rows, "run.yaml": head} {
		if text == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "run.csv")
}

func TestBLIS(t *testing.T) {
	r, err := Open(context.Background(), writeBLIS(t, blisHead, blisRows), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	rows, err := collect(r)
	if err != nil {
		t.Fatal(err)
	}
	h := r.Header()
	if h.Format != "blis" || len(rows) != 3 || h.IDKind != "grouped" || h.BlockTokens != 16 || len(h.Notes) != 2 || h.Failed != 1 {
		t.Fatalf("header %+v", h)
	}
	a, b, c := rows[0], rows[1], rows[2]
	if a.Input != 117 || a.TTFT != 50000 || a.E2E != 90000 || a.Key != "acme" || a.Session != "s" || a.Turn != 0 || a.Think != Absent {
		t.Errorf("row %+v: wanted the server's tokens and spans of its own clock", a)
	}
	if b.Input != 120 || b.TTFT != Absent || b.Think != 800000 || b.At != 901000 {
		t.Errorf("row %+v", b)
	}
	if len(a.Blocks) != 2 || a.Blocks[0] != b.Blocks[0] || a.Blocks[1] != b.Blocks[1] {
		t.Errorf("a prefix of 40 tokens is %v and %v, wanted the same two blocks of 16", a.Blocks, b.Blocks)
	}
	if c.Key != "c2" || !c.Failed || len(c.Blocks) != 0 || !c.Known {
		t.Errorf("row %+v", c)
	}
}

func TestBLISErrors(t *testing.T) {
	for _, c := range []struct{ name, head, rows, want string }{
		{"no header", "", blisRows, "run.csv: no header run.yaml beside it"},
		{"an unknown field", blisHead + "model: x\n", blisRows, "model"},
		{"another unit", strings.Replace(blisHead, "microseconds", "ms", 1), blisRows, "run.yaml: time_unit: read \"ms\", wanted microseconds"},
		{"a long prefix", blisHead, strings.Replace(blisRows, "shared,40,true,120", "shared,400,true,120", 1), "run.csv:3: prefix_length: read 400 of 120 input tokens"},
		{"a fraction", blisHead, strings.Replace(blisRows, ",901000,", ",901000.5x,", 1), "run.csv:3: arrival_time_us: read"},
		{"a column left out", blisHead, strings.Replace(blisRows, "round_index", "round", 1), "run.csv:1: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := Open(context.Background(), writeBLIS(t, c.head, c.rows), Options{})
			if err == nil {
				_, err = collect(r)
			}
			wantError(t, err, c.want)
		})
	}
}
