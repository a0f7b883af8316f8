package sweep

const small = `name: small
fleet: {destinations: 2, preset: llama-3.1-8b-bf16-h100-tp1}
workload:
  keys: {name: zipf, count: 8}
  prompt: {context_tokens: 100, turn_tokens: 20}
  output_tokens: 5
policies: [flat-lb, {name: cacheroute, slots: 3}]
loads_qps: [20, 40]
seeds: [1, 2]
measure: {duration_s: 3}
`
