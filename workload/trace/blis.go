package trace

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/zeebo/xxh3"
	"go.yaml.in/yaml/v4"
)

// blis is TraceV2 of the BLIS simulator (inference-sim): a CSV of requests in
// whole microseconds and, beside it under the same name, a YAML header. Prompts
// of one prefix_group begin with the same prefix_length tokens, which become
// 16-token blocks.
type blis struct {
	table
}

const blisBlock = 16

// blisHeader is the header; unknown fields are a mistake, as in BLIS.
type blisHeader struct {
	TraceVersion         any            `yaml:"trace_version"`
	TimeUnit             string         `yaml:"time_unit"`
	Mode                 string         `yaml:"mode"`
	WarmUpRequests       int            `yaml:"warm_up_requests"`
	WorkloadSeed         any            `yaml:"workload_seed"`
	SessionContextGrowth string         `yaml:"session_context_growth"`
	Server               map[string]any `yaml:"server"`
	Network              map[string]any `yaml:"network"`
	ObservedKVMetrics    map[string]any `yaml:"observed_kv_metrics"`
}

var blisColumns = []string{"client_id", "session_id", "round_index", "prefix_group", "prefix_length", "input_tokens", "output_tokens",
	"arrival_time_us", "send_time_us", "first_chunk_time_us", "last_chunk_time_us", "status"}

var blisOthers = []string{"tenant_id", "server_input_tokens", "think_time_us"}

// About implements Format.
func (*blis) About() string {
	return "BLIS TraceV2: CSV in microseconds with a YAML header of the same name beside it; prefix_group, tenant_id or client_id (the key), session_id, observed times"
}

func (*blis) detect(f *first) bool {
	return f.table("request_id", "prefix_group", "arrival_time_us", "input_tokens")
}

func (b *blis) begin(s source) error {
	head, err := readBLISHeader(s.in.Path)
	if err != nil {
		return err
	}
	s.h.Unit, s.h.IDKind, s.h.KeyField = "us", "grouped", "client_id"
	s.h.BlockTokens, s.h.BlocksFrom = blisBlock, "made here from prefix_group"
	if head.WarmUpRequests > 0 {
		s.h.note("the first %d requests warmed the server up, says its header; they are replayed like the others", head.WarmUpRequests)
	}
	if head.SessionContextGrowth != "" {
		s.h.note("session_context_growth is %.40q; input_tokens are taken as whole prompts", head.SessionContextGrowth)
	}
	if err := b.open(s, blisColumns, blisOthers); err != nil {
		return err
	}
	if b.has("tenant_id") && b.key < 0 {
		s.h.KeyField = "tenant_id, or client_id where it is empty"
	}
	return nil
}

// readBLISHeader reads the YAML beside a CSV.
func readBLISHeader(path string) (*blisHeader, error) {
	base := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(path, ".gz"), ".zst"), ".csv")
	for _, end := range []string{".yaml", ".yml"} {
		f, err := os.Open(base + end)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		defer f.Close()
		text, err := io.ReadAll(io.LimitReader(f, 1<<20))
		if err != nil {
			return nil, err
		}
		var head blisHeader
		if err := yaml.Load(text, &head, yaml.WithKnownFields()); err != nil {
			return nil, fmt.Errorf("%s: %w", base+end, err)
		}
		if unit := head.TimeUnit; unit != "microseconds" && unit != "us" && unit != "" {
			return nil, fmt.Errorf("%s: time_unit: read %.40q, wanted microseconds", base+end, unit)
		}
		return &head, nil
	}
	return nil, fmt.Errorf("%s: no header %s beside it", path, filepath.Base(base)+".yaml")
}

func (b *blis) next(r *Row) error {
	if err := b.line(r); err != nil {
		return err
	}
	var group, client, tenant, status string
	var length, server int32
	var sent, began, ended int64
	err := b.read(
		value{column: "arrival_time_us", exponent: 6, time: &r.At, needed: true},
		value{column: "input_tokens", tokens: &r.Input, needed: true},
		value{column: "output_tokens", tokens: &r.Output, needed: true},
		value{column: "server_input_tokens", tokens: &server},
		value{column: "prefix_group", name: &group},
		value{column: "prefix_length", tokens: &length},
		value{column: "client_id", name: &client}, value{column: "tenant_id", name: &tenant},
		value{column: "session_id", name: &r.Session}, value{column: "round_index", whole: &r.Turn},
		value{column: "status", name: &status},
		value{column: "send_time_us", exponent: 6, time: &sent},
		value{column: "first_chunk_time_us", exponent: 6, time: &began},
		value{column: "last_chunk_time_us", exponent: 6, time: &ended},
		value{column: "think_time_us", exponent: 6, time: &r.Think})
	if err != nil {
		return err
	}
	if server > 0 {
		r.Input = server // with the chat template, which the client does not count
	}
	if length > r.Input {
		return b.in.Errorf("prefix_length: read %d of %d input tokens, wanted at most as many", length, r.Input)
	}
	r.Failed = status != "" && status != "ok" && status != "success" && status != "completed"
	if r.Think == 0 {
		r.Think = Absent // not recorded
	}
	if sent > 0 && began >= sent && ended >= began { // the three share a clock that arrivals need not have
		r.TTFT, r.E2E = began-sent, ended-sent
	}
	if b.key < 0 {
		if r.Key = tenant; tenant == "" {
			r.Key = client
		}
	}
	r.Known = true
	if group != "" {
		name := xxh3.HashString(group)
		for i := range uint64(length / blisBlock) {
			r.Blocks = append(r.Blocks, Chain(name, 0, i))
		}
	}
	return nil
}
