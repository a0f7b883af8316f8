package workload

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/parquet-go/parquet-go"

	"cacheroute/workload/lines"
	"cacheroute/workload/share"
)

// near fails unless got is within tolerance of want.
func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: got %v, wanted %v +- %v", what, got, want, tolerance)
	}
}

// wantError fails unless err is one line that holds all parts.
func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, wanted one with %q", parts)
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) || strings.ContainsAny(err.Error(), "\n\r\x00") || len(err.Error()) > 1000 {
			t.Errorf("error %q, wanted one line with %q", err, part)
		}
	}
}

// write puts a file into the test's folder.
func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Table 6 of the paper: Gini 0.756, the top 4 % of keys hold about 47 % of the
// traffic, no key above 0.3 %.
func TestDefaultKeysReproduceTable6(t *testing.T) {
	k, err := KeySpecs["lognormal"]().Build()
	if err != nil {
		t.Fatal(err)
	}
	if k.Len() != 128824 {
		t.Errorf("%d keys, wanted 128824", k.Len())
	}
	near(t, "Gini", share.Gini(k.Share), 0.756, 0.01)
	near(t, "top 4 % share", share.Top(k.Share, 0.04), 0.47, 0.015)
	if k.Share[0] >= 0.003 {
		t.Errorf("the top key has %v of the traffic, wanted below 0.003", k.Share[0])
	}
}

func TestEveryKeySpec(t *testing.T) {
	rates := write(t, "rates.csv", "key,rate\na,1\nb,3\nc,0\nd,3\n")
	for name, build := range KeySpecs {
		s := build()
		if r, ok := s.(*RatesKeys); ok {
			wantError(t, s.Check(), "file: ")
			r.File = rates
		}
		if err := s.Check(); err != nil || s.About() == "" {
			t.Errorf("%s: defaults: about %q, %v", name, s.About(), err)
		}
		k, err := s.Build()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		again, _ := s.Build()
		names, sum := map[string]bool{}, 0.0
		for i, share := range k.Share {
			if i > 0 && share > k.Share[i-1] || share <= 0 || share != again.Share[i] || k.Hash(i) != again.Hash(i) {
				t.Fatalf("%s: share %d is %v after %v, again %v", name, i, share, k.Share[max(0, i-1)], again.Share[i])
			}
			names[k.Name(i)] = true
			sum += share
		}
		near(t, name+": sum of shares", sum, 1, 1e-9)
		if len(names) != k.Len() {
			t.Errorf("%s: %d names for %d keys", name, len(names), k.Len())
		}
	}
}

func TestTopKeysAreTheSameKeysRenormalised(t *testing.T) {
	all, err := (&LognormalKeys{Sigma: 1.65, Count: 1000, Seed: 7}).Build()
	if err != nil {
		t.Fatal(err)
	}
	top, err := (&LognormalKeys{Sigma: 1.65, Count: 1000, Top: 128, Seed: 7}).Build()
	if err != nil {
		t.Fatal(err)
	}
	held := share.Top(all.Share, 0.128)
	for i := range top.Share {
		near(t, top.Name(i), top.Share[i]*held, all.Share[i], 1e-12)
		if top.Name(i) != all.Name(i) || top.Hash(i) != all.Hash(i) {
			t.Fatalf("key %d is %s in the selection and %s in the population", i, top.Name(i), all.Name(i))
		}
	}
}

func TestZipfMandelbrot(t *testing.T) {
	k, err := (&ZipfKeys{Exponent: 0.5, Offset: 3, Count: 10}).Build()
	if err != nil {
		t.Fatal(err)
	}
	near(t, "share of rank 1 over rank 6", k.Share[0]/k.Share[5], math.Sqrt(9.0/4), 1e-12)
}

func TestKeyHashIsFixed(t *testing.T) {
	k := &Keys{Names: []string{"a"}, Share: []float64{1}}
	// XXH3 of "a" with seed 0, as xxhsum -H3 prints it.
	if got := k.Hash(0); got != 0xe6c632b61e964e1f {
		t.Errorf("hash of a is %#x", got)
	}
}

func TestRatesFileCSV(t *testing.T) {
	text := "\xef\xbb\xbfnote, Rate ,KEY\r\nx,2,b\r\n,1e-3,\"a,1\"\r\n\r\ny,0,zero\r\nz,2,a"
	r, err := ReadRates(write(t, "r.csv", text))
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(r.Names, r.Rates); got != "[b a,1 zero a] [2 0.001 0 2]" {
		t.Errorf("read %s", got)
	}
	k, err := (&RatesKeys{File: write(t, "r.csv", text)}).Build()
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(k.Names); got != "[a b a,1]" {
		t.Errorf("keys %s, wanted ties by name and no key of rate 0", got)
	}
}

func TestRatesFileErrors(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "wanted the header"},
		{"no header", "a,1\n", ":1: read \"a,1\", wanted a header"},
		{"two rates", "key,rate,Rate\n", ":1: "},
		{"negative", "key,rate\na,1\nb,-2\n", ":3: read the rate -2"},
		{"NaN", "key,rate\na,NaN\n", ":2: read the rate NaN"},
		{"infinite", "key,rate\na,Inf\n", ":2: read the rate +Inf"},
		{"text", "key,rate\na,fast\n", ":2: read the rate \"fast\""},
		{"twice", "key,rate\na,1\nb,1\na,2\n", ":4: read the key \"a\", which line 2 has"},
		{"all zero", "key,rate\na,0\n", "at least one with a rate above 0"},
		{"fields", "key,rate\na,1,2\n", ":2: read 3 fields"},
		{"no key", "key,rate\n,1\n", ":2: read the key \"\""},
		{"quote", "key,rate\n\"a,1\nb,2\n", ":2: "},
		{"control", "key,rate\na\x1b[31m,2\n", ":2: read the key"},
		{"binary", "\x00\x01\x02\x80" + strings.Repeat("\xff", 999), ":1: "},
	} {
		path := write(t, "rates.csv", c.text)
		_, err := ReadRates(path)
		t.Run(c.name, func(t *testing.T) { wantError(t, err, path, c.want) })
	}
	_, err := ReadRates(t.TempDir())
	wantError(t, err, "is a directory")
	_, err = ReadRates("missing.csv")
	wantError(t, err, "missing.csv: no such file")
}

func TestCompressedFileCutShort(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte("key,rate\na,1\nb,1\n"))
	z.Close()
	_, err := ReadRates(write(t, "r.csv.gz", b.String()[:b.Len()-9]))
	wantError(t, err, "cut short")
}

func writeParquet[T any](t *testing.T, rows []T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rates.parquet")
	if err := parquet.WriteFile(path, rows); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRatesFileParquet(t *testing.T) {
	type row struct {
		Rate  float64 `parquet:"rate"`
		Other int64   `parquet:"other"`
		Key   string  `parquet:"key"`
	}
	var rows []row
	for i := range 3000 {
		rows = append(rows, row{Key: fmt.Sprint("key", i), Rate: float64(i)})
	}
	path := writeParquet(t, rows)
	r, err := ReadRates(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range rows {
		if r.Names[i] != want.Key || r.Rates[i] != want.Rate {
			t.Fatalf("row %d is %s %v", i, r.Names[i], r.Rates[i])
		}
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = ReadRates(write(t, "cut.parquet", string(whole[:len(whole)/2])))
	wantError(t, err, "truncated Parquet")
	for i := 100; i < len(whole); i += 997 {
		damaged := bytes.Clone(whole)
		damaged[i] ^= 0x55
		ReadRates(write(t, "damaged.parquet", string(damaged))) // must not panic
	}
}

func TestRatesFileParquetErrors(t *testing.T) {
	type intRate struct {
		Key  string `parquet:"key"`
		Rate int64  `parquet:"rate"`
	}
	type noRate struct {
		Key string `parquet:"key"`
	}
	rate := -1.0
	key := "a"
	_, err := ReadRates(writeParquet(t, []intRate{{"a", 1}}))
	wantError(t, err, "column rate is INT(64,true)")
	_, err = ReadRates(writeParquet(t, []noRate{{"a"}}))
	wantError(t, err, "no column rate")
	_, err = ReadRates(writeParquet(t, []rateRow{{&key, nil}}))
	wantError(t, err, "row 1: read a null")
	_, err = ReadRates(writeParquet(t, []rateRow{{&key, &rate}}))
	wantError(t, err, "row 1: read the rate -1")
}

func TestAliasDrawsByWeight(t *testing.T) {
	weight := []float64{5, 1, 0.001, 3, 1e-12}
	counts := make([]float64, len(weight))
	rng := newDraw().at(1, 2)
	table := newAlias(weight)
	const n = 1e6
	for range int(n) {
		counts[table.draw(rng)]++
	}
	for i, w := range weight {
		p := w / 9.001
		near(t, fmt.Sprint("index ", i), counts[i]/n, p, 4*math.Sqrt(p/n)+1e-9)
	}
}

func FuzzReadRatesCSV(f *testing.F) {
	f.Add([]byte("key,rate\na,1\nb,2.5\n"))
	f.Add([]byte("\xef\xbb\xbfrate,key\r\n1,\"a,b\"\r\n"))
	f.Add([]byte("key,rate\na,-1"))
	f.Add([]byte("\x1f\x8b\x08\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := lines.New("f.csv", bytes.NewReader(data))
		if err != nil {
			return
		}
		defer l.Close()
		r, err := readRatesCSV(l)
		if err != nil {
			wantError(t, err, "f.csv")
			return
		}
		if _, err := selectTop(r.Rates, r.Names, 0, 1); err != nil {
			t.Fatal(err)
		}
	})
}

// TestScaledKeys: the selected keys are scaled, all if none are selected, and no
// further than the population goes. What was given stays as it is.
func TestScaledKeys(t *testing.T) {
	for name, x := range map[string]struct {
		spec KeySpec
		by   float64
		want KeySpec // nil: there is none
	}{
		"selected":      {&LognormalKeys{Sigma: 1, Count: 100, Top: 20}, 0.5, &LognormalKeys{Sigma: 1, Count: 100, Top: 10}},
		"too many":      {&LognormalKeys{Sigma: 1, Count: 100, Top: 60}, 2, nil},
		"all":           {&ZipfKeys{Exponent: 1, Count: 7}, 2, &ZipfKeys{Exponent: 1, Count: 14}},
		"one":           {&ZipfKeys{Exponent: 1, Count: 7, Top: 1}, 0.5, &ZipfKeys{Exponent: 1, Count: 7, Top: 1}},
		"file of rates": {&RatesKeys{File: "x"}, 0.5, nil},
	} {
		got, ok := ScaledKeys(x.spec, x.by)
		if ok != (x.want != nil) || ok && !cmp.Equal(got, x.want) {
			t.Errorf("%s: %+v, %v, want %+v", name, got, ok, x.want)
		}
		if ok && got == x.spec {
			t.Errorf("%s: changed in place", name)
		}
	}
	if got, ok := SkewedKeys(&ZipfKeys{Exponent: 2, Count: 7}, 0.75); !ok || got.(*ZipfKeys).Exponent != 1.5 {
		t.Errorf("skewed: %+v, %v", got, ok)
	}
}
