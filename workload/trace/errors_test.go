package trace

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
)

const goodLine = `{"timestamp": 0, "input_length": 600, "output_length": 5, "hash_ids": [1, 2]}` + "\n"

func TestMooncakeErrors(t *testing.T) {
	good := goodLine
	line := func(input string, ids string) string {
		return fmt.Sprintf(`{"timestamp": 1, "input_length": %s, "output_length": 5, "hash_ids": %s}`, input, ids)
	}
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "t: the file is empty"},
		{"another format", "a,b\n", "t:1: read \"a,b\", wanted a trace (azure, "},
		{"columns unknown", "time,tokens\n", "vidur, weka); a CSV of one's own has the columns arrival_s, input_tokens and output_tokens"},
		{"binary", strings.Repeat("\x00\xff\x1b", 400), "t:1: read \"\\x00\\xff\\x1b"},
		{"cut short", good + good[:40], "t:2: the line is cut short"},
		{"cut in a number", good + good[:len(good)-3], "t:2: the line is cut short"},
		{"not JSON", good + "{timestamp}\n", "t:2: read \"imestamp}\" at byte 3 of the line, wanted JSON"},
		{"a list", good + "[1]\n", "t:2: read \"[1]\", wanted a JSON object"},
		{"two objects", good + good[:len(good)-1] + good, "t:2: read "},
		{"twice", good + `{"timestamp": 1, "timestamp": 2}`, "t:2: read the member \"timestamp\" twice, wanted it once"},
		{"twice in the first line", `{"timestamp": 1, "timestamp": 2}`, "t:1: read the member \"timestamp\" twice, wanted it once"},
		{"NaN in the first line", strings.Replace(good, ": 0", ": NaN", 1), "t:1: read \"NaN, \\\"input_length\\\": 600"},
		{"missing", good + `{"timestamp": 1, "input_length": 2, "hash_ids": []}`, "t:2: no member output_length"},
		{"no time", good + `{"session_id": "new", "delay": 1, "input_length": 2, "output_length": 2}`, "t:2: no member timestamp"},
		{"negative", good + line("-5", "[]"), "t:2: input_length: read \"-5\""},
		{"negative time", good + strings.Replace(good, ": 0", ": -1", 1), "t:2: timestamp: read \"-1\""},
		{"NaN", good + strings.Replace(good, ": 0", ": NaN", 1), "t:2: read \"NaN, \\\"input_length\\\": 600"},
		{"fraction", good + line("600.5", "[]"), "t:2: input_length: read \"600.5\""},
		{"exponent", good + line("6e2", "[]"), "t:2: input_length: read \"6e2\""},
		{"huge", good + line(strings.Repeat("9", 5000), "[]"), "t:2: input_length: read \"999999999999999999999999\"..."},
		{"huge time", good + strings.Replace(good, ": 0", ": 1e999", 1), "t:2: timestamp: read \"1e999\""},
		{"text", good + line(`"six"`, "[]"), "t:2: input_length: read "},
		{"null", good + line("null", "[]"), "t:2: input_length: read \"null\""},
		{"ids", good + line("600", "7"), "t:2: hash_ids: read \"7\", wanted a list"},
		{"an id", good + line("600", "[1, -2]"), "t:2: hash_ids: read \"-2\""},
		{"an id above 64 bits", good + line("600", "[1, 18446744073709551616]"), "t:2: hash_ids: read "},
		{"a long session", good + strings.Replace(good, `"timestamp"`, `"session_id": "`+strings.Repeat("x", 2000)+`", "timestamp"`, 1), "t:2: session_id: read "},
		{"deep", good + `{"x": ` + strings.Repeat("[", 1<<20), "t:2: read \"[[[[[[[["},
		{"number of ids", good + line("2500", "[1, 2]"), "t:2: read 2 ids for 2500 input tokens, wanted 4 or 5 for blocks of 512 tokens (usual in this format); blocks of 2048 tokens would fit"},
		{"two tails", good + line("600", "[1]"), "t: line 1 has an id for the rest of its prompt, line 2 has none (1 and 1 such rows)"},
		{"no row kept", line("0", "[]"), "t: read 1 rows and kept none, 1 dropped (no input)"},
	} {
		_, _, err := readText(c.text, Options{})
		t.Run(c.name, func(t *testing.T) { wantError(t, err, c.want) })
	}
}

func TestFormatErrors(t *testing.T) {
	dynamo := examples["dynamo"]
	for _, c := range []struct{ name, format, text, want string }{
		{"a date of Nanoflow", "", "TIMESTAMP,ContextTokens,GeneratedTokens\nnoon,5,5\n", "t:2: TIMESTAMP: read \"noon\", wanted a date and time"},
		{"a fraction of a token", "", "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03,5.5,5\n", "t:2: ContextTokens: read \"5.5\""},
		{"NaN", "", "arrived_at,num_prefill_tokens,num_decode_tokens\nNaN,5,5\n", "t:2: arrived_at: read \"NaN\""},
		{"a negative time", "", "arrived_at,num_prefill_tokens,num_decode_tokens\n-0.5,5,5\n", "t:2: arrived_at: read \"-0.5\""},
		{"an empty value", "", "arrived_at,num_prefill_tokens,num_decode_tokens\n1,,5\n", "t:2: num_prefill_tokens: read \"\""},
		{"lengths alone", "", "num_prefill_tokens,num_decode_tokens\n5,5\n", "t:1: read \"num_prefill_tokens,num_d\"..., wanted also a column arrived_at"},
		{"a short row", "", "Timestamp,Request tokens,Response tokens\n1,2\n", "t:2: read 2 fields, wanted 3"},
		{"a lost quote", "", "Timestamp,Request tokens,Response tokens\n1,2,\"3\n", "t:2: read \"1,2,\\\"3\", wanted quotes"},
		{"a column twice", "", "Timestamp,Request tokens,Response tokens,timestamp\n1,2,3,4\n", "t:1: read the column \"timestamp\" twice"},
		{"two arrivals", "", "arrival_s,arrival_us,input_tokens,output_tokens\n1,1,1,1\n", "t:1: read the columns arrival_s and arrival_us"},
		{"ids without a size", "", "arrival_s,input_tokens,output_tokens,block_ids\n1,1,1,5\n", "t:2: block_ids without block_tokens"},
		{"another size", "", "arrival_s,input_tokens,output_tokens,block_tokens\n1,1,1,16\n1,1,1,32\n", "t:3: block_tokens: read 32, wanted 16 as in the rows before"},
		{"no size", "", "arrival_s,input_tokens,output_tokens,block_tokens\n1,1,1,0\n", "t:2: block_tokens: read 0, wanted a whole number from 1 to 67108864"},
		{"a huge size", "", "arrival_s,input_tokens,output_tokens,block_tokens\n1,1,1,4294967312\n", "t:2: block_tokens: read 4294967312, wanted a whole number from 1 to 67108864"},
		{"too many ids", "", "arrival_s,input_tokens,output_tokens,block_tokens,block_ids\n1,16,1,16,1 2\n", "t:2: read 2 block_ids for 16 input tokens, wanted at most 1"},
		{"a status", "", "arrival_s,input_tokens,output_tokens,status\n1,16,1,late\n", "t:2: status: read \"late\", wanted ok or failed"},
		{"two units", "", `{"arrival_s": 1, "input_tokens": 1, "output_tokens": 1}` + "\n" + `{"arrival_ms": 1, "input_tokens": 1, "output_tokens": 1}`, "t:2: read arrival_ms after arrival_s"},
		{"no arrival", "jsonl", `{"input_tokens": 1, "output_tokens": 1}`, "t:1: no member arrival_us"},
		{"another schema", "", strings.Replace(dynamo, "trace.v1", "trace.v2", 1), "t:1: schema: read \"dynamo.request.trace.v2\""},
		{"an agent left out", "", strings.Replace(dynamo, `"agent_context": {"session_id": "t"}, `, "", 1), "t:3: requests with and without agent_context"},
		{"hashes of another length", "", strings.Replace(dynamo, `"input_length": 40`, `"input_length": 41`, 1), "t:1: read 40 input_tokens and hashes for 41"},
		{"block size changes", "", strings.Replace(dynamo, `"trace_block_size": 16, "input_length": 32`, `"trace_block_size": 32, "input_length": 32`, 1), "t:3: trace_block_size: read 32, wanted 16"},
		{"a session twice", "", strings.Repeat(`{"session_id": "s", "arrival_time_ns": 1, "sub_requests": [{"input_toks": 1, "output_toks": 1}]}`+"\n", 2), "t:2: session_id: read \"s\" a second time"},
		{"both kinds", "", `{"arrival_time_ns": 1, "input_toks": 4, "sub_requests": []}`, "t:1: wanted either input_toks or sub_requests"},
		{"no times of starts", "", examples["weka"], "t: the times at which conversations began are not recorded"},
		{"delta", "mooncake-delta", strings.Repeat(`{"session_id": "s", "timestamp": 1, "input_length": 60000000, "output_length": 1}`+"\n", 2), "t:2: the turns of the session come to 120000001 tokens"},
	} {
		_, _, err := readText(c.text, Options{Format: c.format})
		t.Run(c.name, func(t *testing.T) { wantError(t, err, c.want) })
	}
	weka := exampleOptions("weka")
	_, _, err := readText(`{"id": "c", "block_size": 16, "requests": []}`, weka)
	wantError(t, err, "t:1: block_size: read 16, wanted 64")
	_, _, err = readText("{\"id\": \"c\",\n\"requests\": [{\"t\": 1, \"in\": 640, \"out\": 1, \"hash_ids\": [1]}]}", Options{Format: "weka", SessionsPerS: 1})
	wantError(t, err, "t:1: read 1 ids for 640 input tokens, wanted 10")
}

func TestOptionErrors(t *testing.T) {
	for want, o := range map[string]Options{
		"format: read \"moncake\", wanted one of azure": {Format: "moncake"},
		"block_tokens: must be between 0 and":           {BlockTokens: -1},
		"to_s: 5 is not after from_s = 5":               {From: 5, To: 5},
		"from_s: must be between":                       {From: -1},
		"keep: must be between 0 and 1":                 {Keep: 2},
		"sessions_per_s: must be between":               {SessionsPerS: -1},
		"key: read \"depth:1\", wanted auto":            {Key: "depth:1"},
		"t:1: no member \"tenant\", which is to be":     {Key: "field:tenant"},
	} {
		_, _, err := readText(goodLine, o)
		wantError(t, err, want)
	}
	_, _, err := readText(goodLine, Options{BlockTokens: 16})
	wantError(t, err, "t:1: read 2 ids for 600 input tokens, wanted 37 or 38 for blocks of 16 tokens (as asked); blocks of 512 tokens would fit")
	_, _, err = readText(examples["vidur"], Options{Key: "field:tenant"})
	wantError(t, err, "t:1: no column \"tenant\", which is to be the key")
}

// One line of a gigabyte, plain or made of a few compressed bytes, is refused
// in the memory of a line.
func TestLineOfAGigabyte(t *testing.T) {
	path := filepath.Join(t.TempDir(), "big.jsonl")
	if err := os.WriteFile(path, []byte(goodLine), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 1<<30); err != nil { // a hole of zeros
		t.Skip(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r, err := Open(context.Background(), path, Options{})
	if err == nil {
		_, err = collect(r)
	}
	runtime.ReadMemStats(&after)
	wantError(t, err, path+":2: the line is longer than 16 MiB")
	if mib := (after.TotalAlloc - before.TotalAlloc) >> 20; mib > 128 {
		t.Errorf("%d MiB allocated", mib)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	io.WriteString(z, goodLine)
	for zeros := make([]byte, 1<<20); packed.Len() < 1<<15; {
		z.Write(zeros)
	}
	z.Close()
	_, _, err = readText(packed.String(), Options{})
	wantError(t, err, "t:2: the line is longer than 16 MiB")
}

// As many ids as a line can hold cost no more than a few times the line.
func TestLineOfIDs(t *testing.T) {
	text := goodLine + `{"timestamp": 1, "input_length": 60000000, "output_length": 1, "hash_ids": [1` + strings.Repeat(",1", 7<<20) + "]}"
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _, err := readText(text, Options{})
	runtime.ReadMemStats(&after)
	wantError(t, err, "t:2: read 7340033 ids for 60000000 input tokens")
	if mib := (after.TotalAlloc - before.TotalAlloc) >> 20; mib > 800 {
		t.Errorf("%d MiB allocated", mib)
	}
}

func TestImplausibleTimes(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"seconds read as milliseconds": {"arrival_ms,input_tokens,output_tokens\n" + strings.Repeat("0,5,5\n", 20000) + "999,5,5\n", "is the unit ms right?"},
		"milliseconds as seconds":      {"arrival_s,input_tokens,output_tokens\n0,5,5\n40000000,5,5\n", "is the unit s right?"},
		"of an epoch and of a run":     {"arrival_us,input_tokens,output_tokens\n1700000000000000,5,5\n12,5,5\n", "is the unit us right?"},
	} {
		r := mustOpen(t, c.text, Options{})
		_, err := r.Stats(t.Context())
		wantError(t, err, c.want)
		if _, err := mustOpen(t, c.text, Options{Force: true}).Stats(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		wantError(t, convertTo(t, c.text), c.want)
	}
}
