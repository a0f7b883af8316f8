package policies

import "cmp"

// LeastLoaded is the load-only routing of llm-d's scheduler: its queue-scorer
// and kv-cache-utilization-scorer without a prefix scorer (llm-d inference
// scheduler, Gateway API inference extension). Each scorer gives a destination
// 0 to 1, the highest weighted sum wins, the tie at random:
//
//	queue: (max-w)/(max-min) over the waiting requests w of all; 1 if all are equal
//	kv:    1 - the share of the KV blocks that running requests hold
//
// Both read what the destinations reported at the last scrape, so a router that
// polls every 50 ms needs signal_interval_s: 0.05.
type LeastLoaded struct {
	// QueueWeight weighs the waiting requests of a destination.
	QueueWeight float64 `yaml:"queue_weight" jsonschema:"minimum=0,maximum=1000"`
	// KVWeight weighs the KV blocks in use.
	KVWeight float64 `yaml:"kv_weight" jsonschema:"minimum=0,maximum=1000"`
}

// About implements Spec.
func (*LeastLoaded) About() string {
	return "llm-d's load scorers: the shortest queue and the least KV cache in use"
}

// Check implements Spec.
func (s *LeastLoaded) Check() error {
	return cmp.Or(
		within("queue_weight", s.QueueWeight, 0, 1000),
		within("kv_weight", s.KVWeight, 0, 1000))
}

// Build implements Spec.
func (s *LeastLoaded) Build(env Env) (Policy, error) {
	return newScored(env, s.QueueWeight, s.KVWeight, 0, nil), nil
}
