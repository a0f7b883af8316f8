package scenarios

import _ "embed"

// Schema is the JSON Schema of a study file, made from the types and comments
// of the code by a test: go test ./scenarios -run TestSchema -update.
//
//go:embed study.schema.json
var Schema []byte
