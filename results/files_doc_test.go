package results

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
)

// section is the part of docs/files.md under a heading.
func section(t *testing.T, heading string) string {
	t.Helper()
	text, err := os.ReadFile("../docs/files.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, ok := strings.Cut(string(text), "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("docs/files.md has no section %s", heading)
	}
	part, _, _ := strings.Cut(after, "\n## ")
	return part
}

// documentedUnit is the unit that the name of a column tells.
func documentedUnit(name string) string {
	for _, u := range []struct{ end, unit string }{
		{"_tokens_per_s", "tokens/s"}, {"_qps", "requests/s"}, {"_tokens", "tokens"}, {"_ps", "ps"}, {"_s", "s"},
	} {
		if strings.HasSuffix(name, u.end) {
			return u.unit
		}
	}
	return ""
}

// documentedType is how the page calls the type of a column.
func documentedType(f parquet.Field) string {
	name := "list of strings"
	if f.Leaf() {
		name = map[string]string{"STRING": "string", "DOUBLE": "double", "BOOLEAN": "bool",
			"INT(32,true)": "int32", "INT(64,true)": "int64", "INT(64,false)": "uint64"}[f.Type().String()]
	}
	if f.Optional() {
		name += " or null"
	}
	return name
}

// TestColumnsAreDocumented: docs/files.md has every column in order, with its
// type, its unit and some words.
func TestColumnsAreDocumented(t *testing.T) {
	for heading, row := range map[string]any{"cells.parquet": Cell{}, "requests.parquet": Request{}} {
		var want, got [][]string
		for _, f := range parquet.SchemaOf(row).Fields() {
			want = append(want, []string{"`" + f.Name() + "`", documentedType(f), documentedUnit(f.Name())})
		}
		for line := range strings.Lines(section(t, heading)) {
			if !strings.HasPrefix(line, "| `") {
				continue
			}
			cols := strings.Split(strings.Trim(line, "| \n"), "|")
			for i := range cols {
				cols[i] = strings.TrimSpace(cols[i])
			}
			if len(cols) != 4 || cols[3] == "" {
				t.Errorf("%s: a row %q", heading, line)
				continue
			}
			got = append(got, cols[:3])
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: columns of the code and of docs/files.md:\n%s", heading, d)
		}
	}
}

// TestFieldsAreDocumented: docs/files.md names every field of the JSON files.
func TestFieldsAreDocumented(t *testing.T) {
	for heading, types := range map[string][]any{
		"summary.json":  {Summary{}, LadderRow{}, Interval{}, CapacityRow{}, SeedCapacity{}, DriftRow{}, DriftInterval{}, Install{}},
		"manifest.json": {Manifest{}, FileSum{}, Assumption{}},
		"profiles.json": {CellProfile{}, Profile{}, ByDestination{}, Within{}, Timeline{}, ECDF{}},
	} {
		text := section(t, heading)
		for _, v := range types {
			for _, f := range reflect.VisibleFields(reflect.TypeOf(v)) {
				if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && !strings.Contains(text, "`"+name+"`") {
					t.Errorf("%s: the field %s of %T is not documented", heading, name, v)
				}
			}
		}
	}
}
