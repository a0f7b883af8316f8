package scenarios

import "go.yaml.in/yaml/v4"

// Decode reads a YAML file of another kind than a study as strictly as a study:
// unknown and repeated fields are errors with file and line.
func Decode(name string, data []byte, into any) error {
	d, err := parse(name, data)
	if err != nil {
		return err
	}
	if err := d.root.Load(into, yaml.WithKnownFields()); err != nil {
		return d.explain(err)
	}
	return nil
}
