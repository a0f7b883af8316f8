package results

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
	"pgregory.net/rapid"

	"cacheroute/sim/clock"
	"cacheroute/workload"
)

// aRecord draws the record of request i.
func aRecord(t *rapid.T, i int) Record {
	r := Record{
		Index: int64(i), Arrival: clock.Time(1000 * i), Key: rapid.Int32Range(0, 5).Draw(t, "key"),
		Destination: rapid.Int32Range(0, 3).Draw(t, "destination"),
		Prompt:      rapid.Int32Range(1, 1<<20).Draw(t, "prompt"), Output: rapid.Int32Range(1, 4).Draw(t, "output"),
		Preemptions: rapid.Int32Range(0, 2).Draw(t, "preemptions"),
		Status:      Status(rapid.IntRange(0, int(StatusCount)-1).Draw(t, "status")),
		E2E:         clock.Time(rapid.Int64Range(0, 1<<60).Draw(t, "e2e")),
	}
	r.Admitted = r.Status == Completed || rapid.Bool().Draw(t, "admitted")
	if r.Admitted {
		r.Hit[rapid.IntRange(0, int(workload.SegmentKinds)-1).Draw(t, "kind")] = rapid.Int32Range(0, r.Prompt).Draw(t, "hit")
		r.Emitted = rapid.Int32Range(0, r.Output).Draw(t, "emitted")
	}
	if r.Status == Completed {
		r.Emitted = r.Output
	}
	if r.Emitted > 0 {
		r.TTFT = clock.Time(rapid.Int64Range(0, int64(r.E2E)).Draw(t, "ttft")) // 0 is a value, not a null
	}
	return r
}

// rowOf is the row that a record should become, by the documentation.
func rowOf(r Record, w Window, names []string) Request {
	row := Request{
		Policy: "sticky", LoadQPS: 2.5, Seed: 1 << 63, Index: r.Index, Measured: w.Holds(r.Arrival), Arrival: int64(r.Arrival),
		Key: r.Key, Destination: r.Destination, Status: r.Status.String(),
		PromptTokens: r.Prompt, OutputTokens: r.Output, EmittedTokens: r.Emitted, Admitted: r.Admitted,
		HitTemplate: r.Hit[0], HitContext: r.Hit[1], HitRetrieved: r.Hit[2], HitHistory: r.Hit[3], HitTurn: r.Hit[4], HitPrefix: r.Hit[5],
		E2E: int64(r.E2E), Preemptions: r.Preemptions,
	}
	if int(r.Key) < len(names) {
		row.KeyName = &names[r.Key]
	}
	if r.Emitted > 0 {
		row.TTFT = new(int64(r.TTFT))
	}
	if r.Status == Completed && r.Emitted >= 2 {
		row.TPOT = new(int64(r.E2E-r.TTFT) / int64(r.Emitted-1))
	}
	return row
}

func writeRequests(t testing.TB, out io.Writer, w Window, names []string, recs []Record) {
	t.Helper()
	rows := NewRequestWriter(out, "sticky", 2.5, 1<<63, w, names)
	for i := range recs {
		rows.Add(&recs[i])
	}
	if err := rows.Close(); err != nil {
		t.Fatal(err)
	}
}

// cellOf is the cell of writeRequests.
func cellOf(requests int) *Cell {
	return &Cell{Policy: "sticky", LoadQPS: 2.5, Seed: 1 << 63, RunRequests: int64(requests)}
}

func readRequests(t testing.TB, path string) []Request {
	t.Helper()
	rows, err := parquet.ReadFile[Request](path)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestRequestRows: requests that end in any order become rows in order of
// arrival, and nulls are what has no value rather than what is zero.
func TestRequestRows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.parquet")
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(0, 60).Draw(rt, "n")
		w := Window{10_000, 40_000}
		names := []string{"a", "", "c", "d"}[:rapid.SampledFrom([]int{0, 4}).Draw(rt, "names")]
		recs := make([]Record, n)
		want := make([]Request, n)
		for i := range recs {
			recs[i] = aRecord(rt, i)
			want[i] = rowOf(recs[i], w, names)
		}
		var out bytes.Buffer
		writeRequests(t, &out, w, names, rapid.Permutation(recs).Draw(rt, "ends"))
		if err := os.WriteFile(path, out.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, append([]Request{}, readRequests(t, path)...)); d != "" {
			rt.Fatal(d)
		}
	})
}

// plainRecords are n completed requests whose figures vary as those of a run.
func plainRecords(n int) []Record {
	rng := rand.New(rand.NewPCG(1, 2))
	recs := make([]Record, n)
	at := clock.Time(0)
	for i := range recs {
		at += clock.FromSeconds(rng.ExpFloat64() / 100)
		r := Record{Index: int64(i), Arrival: at, Key: int32(20 * rng.ExpFloat64()), Destination: rng.Int32N(30),
			Prompt: 4000 + rng.Int32N(500), Output: 10 + rng.Int32N(90), Admitted: true,
			TTFT: clock.FromSeconds(rng.ExpFloat64())}
		r.E2E, r.Emitted = r.TTFT+clock.FromSeconds(2*rng.ExpFloat64()), r.Output
		r.Hit[workload.Template] = 1792
		r.Hit[workload.Context] = 16 * rng.Int32N(90)
		recs[i] = r
	}
	return recs
}

// TestRequestsFarApart: the first request ends after thousands of others.
func TestRequestsFarApart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.parquet")
	recs := plainRecords(5 * requestBatch)
	var out bytes.Buffer
	writeRequests(t, &out, Window{0, clock.Never}, nil, append(recs[1:len(recs):len(recs)], recs[0]))
	if err := os.WriteFile(path, out.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	for i, row := range readRequests(t, path) {
		if row.Index != int64(i) || row.Arrival != int64(recs[i].Arrival) {
			t.Fatalf("row %d is request %d", i, row.Index)
		}
	}
}

// TestJoinRequests: large cells keep their row groups, small ones share one, no
// row is lost, and the same cells give the same bytes.
func TestJoinRequests(t *testing.T) {
	dir := t.TempDir()
	var cells []string
	total := 0
	for i, n := range []int{3, 0, requestRowsPerGroup + 9, 5, 1200} {
		path := filepath.Join(dir, fmt.Sprint(i))
		if err := WriteFileAtomic(path, func(w io.Writer) error {
			writeRequests(t, w, Window{0, clock.Never}, nil, plainRecords(n))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		cells, total = append(cells, path), total+n
	}
	joined, again := filepath.Join(dir, "joined"), filepath.Join(dir, "again")
	meta := CellsMeta{Study: "name: x\n", Version: "1"}
	if err := errors.Join(JoinRequests(joined, cells, meta), JoinRequests(again, cells, meta)); err != nil {
		t.Fatal(err)
	}
	one, _ := os.ReadFile(joined)
	if two, _ := os.ReadFile(again); !bytes.Equal(one, two) || len(one) == 0 {
		t.Error("the same cells give different bytes")
	}
	f, file, err := openRequests(joined)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var groups []int64
	for _, g := range file.RowGroups() {
		groups = append(groups, g.NumRows())
	}
	if want := []int64{3, requestRowsPerGroup, 9 + 5 + 1200}; !reflect.DeepEqual(groups, want) {
		t.Errorf("row groups of %v, want %v", groups, want)
	}
	for _, c := range file.Metadata().RowGroups[1].Columns {
		if c.MetaData.Codec != format.Zstd {
			t.Errorf("column %v: codec %v", c.MetaData.PathInSchema, c.MetaData.Codec)
		}
	}
	study, _ := file.Lookup(metaStudy)
	version, _ := file.Lookup(metaVersion)
	if study != meta.Study || version != meta.Version {
		t.Errorf("study %q, version %q", study, version)
	}
	var want []Request
	for _, cell := range cells {
		want = append(want, lastRequests(t, cell, 1500)...)
	}
	if file.NumRows() != int64(total) {
		t.Errorf("%d rows of %d", file.NumRows(), total)
	}
	if got := lastRequests(t, joined, 1500); !reflect.DeepEqual(got, want[len(want)-1500:]) {
		t.Error("the last rows of the file are not those of its cells")
	}
}

// lastRequests reads the last n rows of a file, or all.
func lastRequests(t *testing.T, path string, n int64) []Request {
	t.Helper()
	f, file, err := openRequests(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := parquet.NewGenericReader[Request](file)
	defer r.Close()
	rows := make([]Request, min(n, file.NumRows()))
	if err := r.SeekToRow(file.NumRows() - int64(len(rows))); err != nil {
		t.Fatal(err)
	}
	if k, err := r.Read(rows); k < len(rows) {
		t.Fatalf("%d of %d rows, %v", k, len(rows), err)
	}
	return rows
}

func TestRequestsRefused(t *testing.T) {
	dir := t.TempDir()
	var out bytes.Buffer
	writeRequests(t, &out, Window{}, nil, plainRecords(4))
	put := func(name string, text []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, text, 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	whole, cut := put("whole", out.Bytes()), put("cut", out.Bytes()[:out.Len()-1])
	other := filepath.Join(dir, "other")
	if err := WriteCellsParquet(other, study().Cells, CellsMeta{}); err != nil {
		t.Fatal(err)
	}
	if err := CheckRequests(whole, cellOf(4)); err != nil {
		t.Error(err)
	}
	for want, c := range map[string]struct {
		path string
		cell *Cell
	}{
		"4 requests, want 5":       {whole, cellOf(5)},
		"not a whole Parquet file": {cut, cellOf(4)},
		"column index is missing":  {other, cellOf(12)},
		"is a directory":           {dir, cellOf(4)},
		"sticky at 2.5 requests/s, seed 9223372036854775808; want 0 of other at": {whole, &Cell{Policy: "other", LoadQPS: 2.5, Seed: 1 << 63, RunRequests: 4}},
		"want 0 of sticky at 3 requests/s":                                       {whole, &Cell{Policy: "sticky", LoadQPS: 3, Seed: 1 << 63, RunRequests: 4}},
		"want 0 of sticky at 2.5 requests/s, seed 1":                             {whole, &Cell{Policy: "sticky", LoadQPS: 2.5, Seed: 1, RunRequests: 4}},
	} {
		if err := CheckRequests(c.path, c.cell); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), c.path) {
			t.Errorf("%v, want %q and the path", err, want)
		}
	}
	joined := filepath.Join(dir, "joined")
	for want, path := range map[string]string{"not a whole Parquet file": cut, "column index is missing": other} {
		err := JoinRequests(joined, []string{whole, path}, CellsMeta{})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%v, want %q and the path", err, want)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*joined*")); len(left) > 0 {
		t.Errorf("a failure left %v", left)
	}
}

// TestDamagedRequests: a file with a changed byte is refused, or it joins to the
// same rows as before.
func TestDamagedRequests(t *testing.T) {
	dir := t.TempDir()
	var out bytes.Buffer
	writeRequests(t, &out, Window{0, clock.Never}, []string{"a", "b"}, plainRecords(40))
	cell, joined := filepath.Join(dir, "cell"), filepath.Join(dir, "joined")
	put := func(text []byte) {
		if err := os.WriteFile(cell, text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	put(out.Bytes())
	want := readRequests(t, cell)
	found, tried := 0, 0
	for i := 0; i < out.Len(); i += 13 {
		damaged := bytes.Clone(out.Bytes())
		damaged[i] ^= 0x55
		put(damaged)
		tried++
		if CheckRequests(cell, cellOf(40)) != nil {
			found++
			continue
		}
		if err := JoinRequests(joined, []string{cell}, CellsMeta{}); err != nil {
			t.Errorf("byte %d: passed, but %v", i, err)
		} else if got := readRequests(t, joined); !reflect.DeepEqual(got, want) {
			t.Errorf("byte %d: passed with other rows", i)
		}
	}
	t.Logf("%d of %d changed bytes are refused, the others change no row", found, tried)
}

// fullDisk takes so many bytes and no more.
type fullDisk int

func (d *fullDisk) Write(b []byte) (int, error) {
	if *d -= fullDisk(len(b)); *d < 0 {
		return 0, errors.New("disk full")
	}
	return len(b), nil
}

func TestRequestWriterErrors(t *testing.T) {
	disk := fullDisk(100)
	w := NewRequestWriter(&disk, "sticky", 1, 1, Window{}, nil)
	for _, r := range plainRecords(3000) {
		w.Add(&r)
	}
	if err := w.Close(); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("full disk: %v", err)
	}
	w = NewRequestWriter(io.Discard, "sticky", 1, 1, Window{}, nil)
	recs := plainRecords(3)
	w.Add(&recs[0])
	w.Add(&recs[2])
	if err := w.Close(); err == nil || !strings.Contains(err.Error(), "request 1 is missing") {
		t.Errorf("a lost request: %v", err)
	}
}

// BenchmarkRequests: rows per second of a large cell, writing and joining.
func BenchmarkRequests(b *testing.B) {
	recs := plainRecords(1 << 20)
	cell := filepath.Join(b.TempDir(), "cell")
	size := int64(0)
	b.Run("write", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := WriteFileAtomic(cell, func(w io.Writer) error {
				writeRequests(b, w, Window{0, clock.Never}, nil, recs)
				return nil
			}); err != nil {
				b.Fatal(err)
			}
		}
		info, err := os.Stat(cell)
		if err != nil {
			b.Fatal(err)
		}
		size = info.Size()
		b.ReportMetric(float64(b.N*len(recs))/b.Elapsed().Seconds(), "rows/s")
		b.ReportMetric(float64(size)/float64(len(recs)), "B/row")
	})
	b.Run("check", func(b *testing.B) {
		for b.Loop() {
			if err := CheckRequests(cell, cellOf(len(recs))); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.N*len(recs))/b.Elapsed().Seconds(), "rows/s")
	})
	b.Run("join", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := JoinRequests(cell+".joined", []string{cell}, CellsMeta{}); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.N*len(recs))/b.Elapsed().Seconds(), "rows/s")
	})
}
