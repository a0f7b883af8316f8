package results

import "cacheroute/workload"

// Cell is one row of the results: one policy at one load with one seed. Its
// figures are of the requests that arrived in the measured window, whenever
// they ended, but for those whose name starts with run_, which are of the
// whole run with warm-up and drain. Latencies are in seconds, hits and rates
// are fractions. The tags are the contract of cells.parquet and summary.json.
type Cell struct {
	Policy  string  `json:"policy" parquet:"policy,dict"`
	LoadQPS float64 `json:"load_qps" parquet:"load_qps"` // offered load asked for
	Seed    uint64  `json:"seed" parquet:"seed"`
	WindowS Float   `json:"window_s" parquet:"window_s"` // length of the measured window

	// Requests is the sum of the five ways to end that follow it.
	Requests      int64 `json:"requests" parquet:"requests"`
	Completed     int64 `json:"completed" parquet:"completed"`
	RefusedPrompt int64 `json:"refused_prompt" parquet:"refused_prompt"`
	RefusedGrowth int64 `json:"refused_growth" parquet:"refused_growth"`
	TimedOut      int64 `json:"timed_out" parquet:"timed_out"`
	Unfinished    int64 `json:"unfinished" parquet:"unfinished"`

	// Quantiles are exact, by nearest rank. TTFT and E2E are over all requests
	// and a failed one is infinite, even if it emitted its first token before
	// it failed; ..._completed_s leaves the failed out. TPOT is the mean gap
	// between the tokens of a completed request of two tokens or more. Means
	// are over completed requests.
	TTFTP50          Float `json:"ttft_p50_s" parquet:"ttft_p50_s"`
	TTFTP90          Float `json:"ttft_p90_s" parquet:"ttft_p90_s"`
	TTFTP99          Float `json:"ttft_p99_s" parquet:"ttft_p99_s"`
	TTFTP99Completed Float `json:"ttft_p99_completed_s" parquet:"ttft_p99_completed_s"`
	TTFTMean         Float `json:"ttft_mean_s" parquet:"ttft_mean_s"`
	TPOTP50          Float `json:"tpot_p50_s" parquet:"tpot_p50_s"`
	TPOTP90          Float `json:"tpot_p90_s" parquet:"tpot_p90_s"`
	TPOTP99          Float `json:"tpot_p99_s" parquet:"tpot_p99_s"`
	TPOTMean         Float `json:"tpot_mean_s" parquet:"tpot_mean_s"`
	E2EP50           Float `json:"e2e_p50_s" parquet:"e2e_p50_s"`
	E2EP90           Float `json:"e2e_p90_s" parquet:"e2e_p90_s"`
	E2EP99           Float `json:"e2e_p99_s" parquet:"e2e_p99_s"`
	E2EMean          Float `json:"e2e_mean_s" parquet:"e2e_mean_s"`

	// KVHit is cached prompt tokens over prompt tokens of the requests that
	// reached a batch. Its parts are the cached tokens of one kind of segment
	// over the same prompt tokens of all kinds, so that they add up to it.
	KVHit          Float `json:"kv_hit" parquet:"kv_hit"`
	KVHitTemplate  Float `json:"kv_hit_template" parquet:"kv_hit_template"`
	KVHitContext   Float `json:"kv_hit_context" parquet:"kv_hit_context"`
	KVHitRetrieved Float `json:"kv_hit_retrieved" parquet:"kv_hit_retrieved"`
	KVHitHistory   Float `json:"kv_hit_history" parquet:"kv_hit_history"`
	KVHitTurn      Float `json:"kv_hit_turn" parquet:"kv_hit_turn"`
	KVHitPrefix    Float `json:"kv_hit_prefix" parquet:"kv_hit_prefix"`

	Imbalance   Float `json:"imbalance" parquet:"imbalance"`       // max over mean of requests per destination
	FailureRate Float `json:"failure_rate" parquet:"failure_rate"` // all that did not complete, over requests
	// Completed requests, and their output tokens, over the window's length; of a
	// stage, until the last of its requests has ended.
	ThroughputQPS   Float `json:"throughput_qps" parquet:"throughput_qps"`
	OutputTokensPer Float `json:"output_tokens_per_s" parquet:"output_tokens_per_s"`
	Preemptions     int64 `json:"preemptions" parquet:"preemptions"`

	// What the workload was asked for (SetAsked) and what came.
	AskedQPS             Float `json:"asked_qps" parquet:"asked_qps"`
	AskedGapCV           Float `json:"asked_gap_cv" parquet:"asked_gap_cv"`
	AskedGini            Float `json:"asked_gini" parquet:"asked_gini"`
	AskedPromptTokens    Float `json:"asked_prompt_tokens" parquet:"asked_prompt_tokens"`
	AskedOutputTokens    Float `json:"asked_output_tokens" parquet:"asked_output_tokens"`
	RealisedQPS          Float `json:"realised_qps" parquet:"realised_qps"`
	RealisedGapCV        Float `json:"realised_gap_cv" parquet:"realised_gap_cv"` // of gaps with both ends in the window
	RealisedGini         Float `json:"realised_gini" parquet:"realised_gini"`     // over all keys that could arrive
	RealisedPromptTokens Float `json:"realised_prompt_tokens" parquet:"realised_prompt_tokens"`
	RealisedOutputTokens Float `json:"realised_output_tokens" parquet:"realised_output_tokens"` // asked of the engine, per request

	RunEndS             Float `json:"run_end_s" parquet:"run_end_s"`
	RunRequests         int64 `json:"run_requests" parquet:"run_requests"`
	RunSteps            int64 `json:"run_steps" parquet:"run_steps"`
	RunPreemptions      int64 `json:"run_preemptions" parquet:"run_preemptions"`
	RunPrefillTokens    int64 `json:"run_prefill_tokens" parquet:"run_prefill_tokens"`
	RunRecomputedTokens int64 `json:"run_recomputed_tokens" parquet:"run_recomputed_tokens"`
	RunDecodeTokens     int64 `json:"run_decode_tokens" parquet:"run_decode_tokens"`
	RunUtilisation      Float `json:"run_utilisation" parquet:"run_utilisation"` // mean busy fraction of a destination until the end

	Fingerprint string   `json:"fingerprint" parquet:"fingerprint"` // of all events of the run, hexadecimal
	Warnings    []string `json:"warnings" parquet:"warnings,list"`

	// Intervals of a drift that begin in the measured window; none without a drift.
	Intervals []DriftInterval `json:"intervals,omitempty" parquet:"-"`
}

// SetAsked fills in what the workload was asked for.
func (c *Cell) SetAsked(f workload.Figures) {
	c.AskedQPS, c.AskedGapCV, c.AskedGini = Float(f.QPS), Float(f.GapCV), Float(f.Gini)
	c.AskedPromptTokens, c.AskedOutputTokens = Float(f.PromptTokens), Float(f.OutputTokens)
}
