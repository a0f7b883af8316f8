package calib

// Bench is a set of measured runs of an engine, from one file.
type Bench struct {
	File   string
	Format string // one of the bench formats
	Rows   []BenchRow
	Steps  []BenchStep // of a step log, which has no rows
	Ran    Setup       // what the steps ran on, as far as is known
	// Notes is what the reader of a result must know of the file: rows left
	// out and why, what was assumed because the file does not say it.
	Notes []string
}

// BenchRow is one measured run: closed-loop clients that send requests of like
// lengths, without shared prefixes, and wait for the answer. Times are in
// seconds, NaN where the file does not say.
type BenchRow struct {
	Line int // in the file, or the index of the record in a JSON file, from 1

	Model, Engine, EngineVersion, GPU, Precision string
	TensorParallel                               int // 0: not said

	Input, Output Lengths
	Concurrency   int // clients at work at the same time
	Requests      int // completed; 0: not said
	// Waiting is how many of the clients find no place in the engine, which
	// runs Concurrency-Waiting sequences; 0: its max_num_seqs alone counts.
	Waiting int
	// OnePrompt tells that a step has room for the tokens of one prompt beside
	// the decoding sequences, whatever the engine's token budget is.
	OnePrompt bool
	// NoPrefixCaching tells that the engine ran without it: a preempted request
	// computes all its tokens again.
	NoPrefixCaching bool

	TTFTMean, TPOTMean float64
	OutputTokensPerS   float64 // of the whole run
	RequestsPerS       float64
}

// Lengths is what is known of the token counts of a run's requests.
type Lengths struct {
	Mean     float64
	Min, Max float64 // equal to Mean if only a constant or the mean is known
	Known    LengthsKnown
}

// LengthsKnown is what a file says of lengths.
type LengthsKnown uint8

// What a file can say of lengths.
const (
	LengthsRange   LengthsKnown = iota // their range
	LengthsLongest                     // the longest alone, which is then taken for all
	LengthsMean                        // the mean alone, which is then taken for all
)

// Shape names the row's lengths, for errors by shape.
type Shape struct{ Input, Output int }

// Shape is the row's mean lengths in whole tokens.
func (r BenchRow) Shape() Shape { return Shape{int(r.Input.Mean + 0.5), int(r.Output.Mean + 0.5)} }
