package trace

// examples are a few rows of each format, with the quirks of the published
// files. All but the first row of mooncake-delta may be shuffled.
var examples = map[string]string{
	"azure": `TIMESTAMP,ContextTokens,GeneratedTokens
2023-11-16 18:17:03.9799600,4808,10
2023-11-16 18:17:04.0319600,3180,8
2024-05-12 00:00:00+00:00,110,27
`,
	"azure-2025": `TIMESTAMP,NumImages,ContextTokens,GeneratedTokens
2024-10-15T12:00:00.269Z,0,100,5
2024-10-15T12:00:01Z,2,900,0
`,
	"burstgpt": `Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type
5,ChatGPT,472,18,490,Conversation log
45,ChatGPT,1087,230,1317,Conversation log
118,GPT-4,417,0,417,API log
119,GPT-4,0,3,3,API log
`,
	"burstgpt-3": `Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type
19440110.0,1722ac82-0a46,43,GPT-4,906,446,1352,Conversation log
19440161.0,,2,ChatGPT,36,29,65,API log
`,
	"vidur": `arrived_at,num_prefill_tokens,num_decode_tokens
0.0,374,44
1e-3,396,109
4.314579,879,55
`,
	"splitwise": `request_id,request_type,application_id,arrival_timestamp,batch_size,prompt_size,token_size
0,2,0,0.0,1,374,44
1,1,7,0.5,1,374,44
2,2,7,4.31457,1,396,109
`,
	"csv": `arrival_ms,key,session,turn,think_us,input_tokens,output_tokens,block_tokens,block_ids,status,ttft_us,e2e_us,cached_tokens,region
0.5,a,s1,0,,40,5,16,1 2 3,ok,90,200,0,eu
2000,"b,c",,,,16,1,16,18446744073709551615,failed,,,,eu
9000,a,s1,1,700,60,5,16,1 2 3 4,ok,80,,32,us
9001,a,,,,8,5,,,ok,,,,us
`,
	"jsonl": `{"arrival_s": 1.5, "key": "a", "input_tokens": 40, "output_tokens": 5, "block_tokens": 16, "block_ids": [1, 2, 3]}
{"arrival_s": 3, "input_tokens": 4, "output_tokens": 5, "session": null, "cached_tokens": 3, "other": {"x": []}}
`,
	"mooncake": `{"timestamp": 27482, "input_length": 1100, "output_length": 52, "hash_ids": [46, 47, 2353]}
{"timestamp": 30535, "input_length": 1100, "output_length": 26, "hash_ids": [46, 47, 18446744073709551615]}
{"timestamp": 30535, "input_length": 1100, "output_length": 26, "hash_ids": [46, 47, 18446744073709551615]}
`,
	"mooncake-aiperf": `{"session_id": "a", "timestamp": 100.5, "input_length": 600, "output_length": 9, "hash_ids": [1, 2]}
{"session_id": "a", "delay": 2500, "input_length": 700, "output_length": 9, "hash_ids": [1, 3]}
{"timestamp": 700, "input_length": 10, "output_length": 9}
`,
	"mooncake-dynamo": `{"request_id": "r", "session_id": "s", "created_time": 0.25, "input_tokens": 600, "output_tokens": 9, "hash_ids": [1, 2], "priority": 1}
{"request_id": "q", "session_id": "s", "delay_ms": 1, "input_tokens": 600, "output_tokens": 9, "hash_ids": [1, 2]}
`,
	"qwen-bailian": `{"chat_id": 159, "parent_chat_id": -1, "timestamp": 61.114, "input_length": 21, "output_length": 83, "type": "text", "turn": 1, "hash_ids": [1089, 1090]}
{"chat_id": 160, "parent_chat_id": 159, "timestamp": 90, "input_length": 120, "output_length": 3, "type": "text", "turn": 2, "hash_ids": [1089, 2, 3, 4, 5, 6, 7, 8]}
{"chat_id": 161, "parent_chat_id": 160, "timestamp": 95.5, "input_length": 32, "output_length": 3, "type": "file", "turn": 3, "hash_ids": [1089, 2]}
`,
	"dynamo": `{"schema": "dynamo.request.trace.v1", "event_type": "request_end", "event_time_unix_ms": 1700000000900, "agent_context": {"session_id": "s", "parent_session_id": null}, "request": {"request_id": "a", "request_received_ms": 1700000000123, "input_tokens": 40, "output_tokens": 5, "cached_tokens": 16, "kv_hit_rate": 0.4, "ttft_ms": 12.5, "total_time_ms": 600, "replay": {"trace_block_size": 16, "input_length": 40, "input_sequence_hashes": [1, 2, 3]}}}
{"schema": "dynamo.request.trace.v1", "event_type": "tool_end", "event_time_unix_ms": 1700000000950, "agent_context": {"session_id": "s"}}
{"schema": "dynamo.request.trace.v1", "event_type": "request_end", "event_time_unix_ms": 1700000003000, "agent_context": {"session_id": "t"}, "request": {"request_received_ms": 1700000002000, "input_tokens": 32, "output_tokens": 5, "replay": {"trace_block_size": 16, "input_length": 32, "input_sequence_hashes": [1, 18446744073709551615]}}}
`,
	"ragpulse": `{"timestamp": "27", "input_length": 3861, "output_length": 127, "hash_ids": {"sys_prompt": [0], "passages_ids": [8290, 1], "history": [], "web_search": [], "user_input": [5]}, "session_id": "u1"}
{"timestamp": "29", "input_length": 400, "output_length": 7, "hash_ids": {"sys_prompt": [0], "passages_ids": [], "history": [4], "web_search": [], "user_input": [6]}, "session_id": "u1"}
`,
	"llmservingsim": `{"arrival_time_ns": 1500000, "input_toks": 20, "output_toks": 3, "input_tok_ids": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20], "output_tok_ids": [1, 2, 3]}
{"session_id": "s", "arrival_time_ns": 2000000999, "sub_requests": [{"input_toks": 20, "output_toks": 3, "tool_duration_ns": 1000000}, {"input_toks": 30, "output_toks": 4}]}
`,
	"weka": `{"id": "c1", "block_size": 64, "requests": [{"t": 0, "type": "n", "in": 130, "out": 9, "hash_ids": [1, 2], "api_time": 2.5}, {"t": 9.5, "type": "s", "in": 200, "out": 9, "hash_ids": [1, 2, 3], "think_time": 7}, {"type": "subagent", "t": 11, "requests": [{"t": 11, "type": "n", "in": 63, "out": 1, "hash_ids": []}]}]}
{
  "id": "c2",
  "requests": [
    {"t": 0.000001, "in": 64, "out": 1, "hash_ids": [1]}
  ]
}
`,
}

// formatOfExample is the name of the format of an example.
var formatOfExample = map[string]string{
	"azure-2025": "azure", "burstgpt-3": "burstgpt", "mooncake-aiperf": "mooncake", "mooncake-dynamo": "mooncake",
}

func exampleFormat(example string) string {
	if name, ok := formatOfExample[example]; ok {
		return name
	}
	return example
}
