package results

import (
	"fmt"
	"io"
	"sync"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"cacheroute/sim/clock"
	"cacheroute/workload"
)

// Request is a row of requests.parquet: one request of one cell, whether it
// arrived in the measured window or not. Spans are exact, in picoseconds, so
// that every figure of the cell can be computed again to the last bit. A pointer
// is a column with nulls. Columns of few values are dictionary encoded, other
// integers delta encoded (newRequestFile).
type Request struct {
	Policy  string  `parquet:"policy,dict"`
	LoadQPS float64 `parquet:"load_qps,dict"`
	Seed    uint64  `parquet:"seed,dict"`
	Index   int64   `parquet:"index"`

	Measured    bool    `parquet:"measured"`
	Arrival     int64   `parquet:"arrival_ps"`
	Key         int32   `parquet:"key"`
	KeyName     *string `parquet:"key_name,dict"` // null: the workload has no names
	Destination int32   `parquet:"destination"`
	Status      string  `parquet:"status,dict"`

	PromptTokens  int32 `parquet:"prompt_tokens"`
	OutputTokens  int32 `parquet:"output_tokens"`
	EmittedTokens int32 `parquet:"emitted_tokens"`

	Admitted     bool  `parquet:"admitted"`
	HitTemplate  int32 `parquet:"hit_template_tokens,dict"`
	HitContext   int32 `parquet:"hit_context_tokens,dict"`
	HitRetrieved int32 `parquet:"hit_retrieved_tokens,dict"`
	HitHistory   int32 `parquet:"hit_history_tokens,dict"`
	HitTurn      int32 `parquet:"hit_turn_tokens,dict"`
	HitPrefix    int32 `parquet:"hit_prefix_tokens,dict"`

	TTFT        *int64 `parquet:"ttft_ps"` // null: no token was emitted
	TPOT        *int64 `parquet:"tpot_ps"` // null: not completed, or one token only
	E2E         int64  `parquet:"e2e_ps"`
	Preemptions int32  `parquet:"preemptions"`
}

// requestRowsPerGroup is the most rows of a row group, some 7 MB. Readers share
// a file out by row groups and skip them by their least and largest values.
const requestRowsPerGroup = 1 << 18

// requestBatch is how many rows go to the encoder at once.
const requestBatch = 1 << 10

// RequestWriter streams the requests of one cell to a Parquet file in order of
// arrival. It holds a row group, compressed, and the requests that ended before
// an earlier one did.
type RequestWriter struct {
	file   *parquet.GenericWriter[Request]
	cell   Request // what all rows of the cell share
	window Window
	names  []string

	early  []Record // ring of records by index; Prompt 0 marks an empty place
	next   int64    // index of the next row
	told   int64    // requests added
	rows   []Request
	values []int64 // what TTFT and TPOT of rows point to
	err    error
}

// NewRequestWriter begins the file of a cell. names are those of the keys; keys
// beyond them have none.
func NewRequestWriter(out io.Writer, policy string, loadQPS float64, seed uint64, w Window, names []string) *RequestWriter {
	file := requestFiles.Get().(*parquet.GenericWriter[Request])
	file.Reset(out)
	return &RequestWriter{
		file:   file,
		cell:   Request{Policy: policy, LoadQPS: loadQPS, Seed: seed},
		window: w,
		names:  names,
		early:  make([]Record, requestBatch),
		rows:   make([]Request, 0, requestBatch),
		values: make([]int64, 2*requestBatch),
	}
}

// requestCodec keeps its encoders, which are dear to make, from file to file.
// The fastest level is enough: the encodings leave little to squeeze out.
var requestCodec = zstd.Codec{Level: zstd.SpeedFastest}

// requestFiles keeps the megabytes of buffers of a writer from cell to cell.
var requestFiles = sync.Pool{New: func() any { return newRequestFile(io.Discard) }}

// newRequestFile begins a file of requests.
func newRequestFile(out io.Writer, more ...parquet.WriterOption) *parquet.GenericWriter[Request] {
	return parquet.NewGenericWriter[Request](out, append(more,
		parquet.Compression(&requestCodec),
		parquet.DefaultEncodingFor(parquet.Int32, &parquet.DeltaBinaryPacked),
		parquet.DefaultEncodingFor(parquet.Int64, &parquet.DeltaBinaryPacked),
		parquet.MaxRowsPerRowGroup(requestRowsPerGroup))...)
}

// Add takes a request that has ended. Each is to be told once, in any order.
// The first failure to write is kept for Close.
func (w *RequestWriter) Add(rec *Record) {
	for rec.Index-w.next >= int64(len(w.early)) {
		w.grow()
	}
	w.told++
	mask := int64(len(w.early) - 1)
	w.early[rec.Index&mask] = *rec
	for at := &w.early[w.next&mask]; at.Prompt > 0; at = &w.early[w.next&mask] {
		w.row(at)
		at.Prompt = 0
		w.next++
	}
}

// grow doubles the ring.
func (w *RequestWriter) grow() {
	n := int64(len(w.early))
	wider := make([]Record, 2*n)
	for i := w.next; i < w.next+n; i++ {
		wider[i&(2*n-1)] = w.early[i&(n-1)]
	}
	w.early = wider
}

// row adds the next row to the batch.
func (w *RequestWriter) row(rec *Record) {
	n := len(w.rows)
	w.rows = append(w.rows, w.cell)
	r := &w.rows[n]
	r.Index, r.Arrival, r.Key, r.Destination = rec.Index, int64(rec.Arrival), rec.Key, rec.Destination
	r.Measured, r.Admitted, r.Status = w.window.Holds(rec.Arrival), rec.Admitted, rec.Status.String()
	if int(rec.Key) < len(w.names) {
		r.KeyName = &w.names[rec.Key]
	}
	r.PromptTokens, r.OutputTokens, r.EmittedTokens, r.Preemptions = rec.Prompt, rec.Output, rec.Emitted, rec.Preemptions
	r.HitTemplate, r.HitContext, r.HitRetrieved = rec.Hit[workload.Template], rec.Hit[workload.Context], rec.Hit[workload.Retrieved]
	r.HitHistory, r.HitTurn, r.HitPrefix = rec.Hit[workload.History], rec.Hit[workload.Turn], rec.Hit[workload.Prefix]
	r.E2E = int64(rec.E2E)
	if rec.Emitted > 0 {
		r.TTFT = &w.values[2*n]
		*r.TTFT = int64(rec.TTFT)
	}
	if rec.Status == Completed && rec.Emitted > 1 {
		r.TPOT = &w.values[2*n+1]
		*r.TPOT = int64((rec.E2E - rec.Handling - rec.TTFT) / clock.Time(rec.Emitted-1))
	}
	if len(w.rows) == requestBatch {
		w.flush()
	}
}

func (w *RequestWriter) flush() {
	if w.err == nil {
		_, w.err = w.file.Write(w.rows)
	}
	w.rows = w.rows[:0]
}

// Close ends the file and returns the first error of the writer. A request that
// was never told is one.
func (w *RequestWriter) Close() error {
	if w.err == nil && w.next != w.told {
		return fmt.Errorf("conservation: request %d is missing of the %d that ended", w.next, w.told)
	}
	w.flush()
	if w.err != nil {
		return w.err
	}
	if err := w.file.Close(); err != nil {
		return err
	}
	requestFiles.Put(w.file)
	return nil
}
