package trace

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"
	"gonum.org/v1/gonum/stat/distuv"

	"cacheroute/workload/lines"
)

// serveGen draws requests from the clients of ServeGen: chunk-N-trace.csv has no
// header and a row a window (start in s, requests/s, CV of the gaps, Gamma or
// Weibull, shape, scale in s), chunk-N-dataset.json beside it the lengths. The
// trace is one such file or a folder of them; all clients have the same windows.
// A client is a key.
type serveGen struct {
	source
	clients []*serveGenClient
	length  int64 // of a window, microseconds
	drawn   []serveGenRequest
	place   int // of drawn
}

type serveGenClient struct {
	name    string
	in      *lines.Reader
	ahead   serveGenWindow // not drawn yet
	ended   bool
	lengths []serveGenLengths
	rng     *rand.Rand
}

// serveGenWindow is a row of a client.
type serveGenWindow struct {
	start        int64 // microseconds
	rate         float64
	pattern      string
	shape, scale float64
}

type serveGenRequest struct {
	at            int64
	client        int32
	input, output int32
}

const (
	serveGenEnd    = "-trace.csv"
	serveGenWidth  = 600e6 // of a window, where a file has one only
	mostDrawn      = 1 << 24
	mostServeGenFS = 4096
)

// About implements Format.
func (*serveGen) About() string {
	return "ServeGen clients: a chunk-N-trace.csv (windows of rate, CV, Gamma or Weibull) with its chunk-N-dataset.json, or a folder of them; requests are drawn with draw-seed, a client is a key"
}

func (*serveGen) detect(f *first) bool {
	if f.fields == 1 {
		for name := range f.columns {
			return strings.HasPrefix(name, "chunk-") && strings.HasSuffix(name, serveGenEnd)
		}
	}
	return f.fields == 6 && (f.columns["gamma"] || f.columns["weibull"] || f.columns[""]) && f.numeric
}

// folder opens a folder of files as the list of their names, which stands for
// them.
func folder(path string) (*lines.Reader, error) {
	files, err := filepath.Glob(filepath.Join(path, "chunk-*"+serveGenEnd))
	if err != nil || len(files) == 0 || len(files) > mostServeGenFS {
		return nil, fmt.Errorf("%s: is a directory with %d files chunk-N-trace.csv, wanted a file or 1 to %d of these", path, len(files), mostServeGenFS)
	}
	names := ""
	for _, f := range files {
		names += filepath.Base(f) + "\n"
	}
	return lines.New(path, strings.NewReader(names))
}

func (s *serveGen) begin(from source) error {
	s.source = from
	from.h.Unit, from.h.KeyField = "s", "client"
	from.h.Remembers = "the requests of the window in hand, 24 bytes each, and the lengths of all clients"
	from.h.note("requests are drawn from rates, with seed %d: they are not those that were sent", from.opt.Seed)
	paths := []string{from.in.Path}
	if info, err := os.Stat(from.in.Path); err == nil && info.IsDir() {
		paths = nil
		for {
			name, err := from.in.Next()
			if err == io.EOF {
				break
			}
			paths = append(paths, filepath.Join(from.in.Path, string(name)))
		}
	}
	slices.SortFunc(paths, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	for _, path := range paths {
		c, err := s.open(path)
		if err != nil {
			return err
		}
		s.clients = append(s.clients, c)
	}
	return nil
}

// open opens the files of a client.
func (s *serveGen) open(path string) (*serveGenClient, error) {
	base := strings.TrimSuffix(path, serveGenEnd)
	c := &serveGenClient{name: strings.TrimPrefix(filepath.Base(base), "chunk-")}
	c.rng = rand.New(rand.NewPCG(s.opt.Seed, xxh3.HashString("trace/servegen/"+c.name)))
	var err error
	if c.lengths, err = readServeGenLengths(base + "-dataset.json"); err != nil {
		return nil, err
	}
	if c.in, err = lines.Open(path); err != nil {
		return nil, err
	}
	return c, c.advance()
}

// advance reads the next window.
func (c *serveGenClient) advance() error {
	line, err := c.in.Next()
	if err == io.EOF {
		c.ended = true
		return nil
	}
	if err != nil {
		return err
	}
	f, err := lines.Fields(line)
	if err == nil && len(f) != 6 {
		err = fmt.Errorf("read %d fields, wanted start,rate,cv,pattern,shape,scale", len(f))
	}
	if err != nil {
		return c.in.Errorf("%w", err)
	}
	w := serveGenWindow{pattern: strings.TrimSpace(f[3])}
	if w.start, err = timeOf("start", strings.TrimSpace(f[0]), 0); err != nil {
		return c.in.Errorf("%w", err)
	}
	for _, v := range []struct {
		name string
		text string
		to   *float64
	}{{"rate", f[1], &w.rate}, {"shape", f[4], &w.shape}, {"scale", f[5], &w.scale}} {
		if *v.to, err = strconv.ParseFloat(strings.TrimSpace(v.text), 64); err != nil || !(*v.to >= 0 && *v.to <= 1e6) {
			return c.in.Errorf("%s: read %s, wanted a number from 0 to 1e+06", v.name, lines.Excerpt([]byte(v.text)))
		}
	}
	switch {
	case w.rate == 0:
	case w.pattern != "Gamma" && w.pattern != "Weibull":
		return c.in.Errorf("pattern: read %s, wanted Gamma or Weibull where the rate is not 0", lines.Excerpt([]byte(w.pattern)))
	case w.shape < 1e-3 || w.scale == 0:
		return c.in.Errorf("read the shape %v and the scale %v, wanted at least 0.001 and more than 0", w.shape, w.scale)
	}
	c.ahead = w
	return nil
}

func (s *serveGen) next(r *Row) error {
	for s.place == len(s.drawn) {
		if s.clients[0].ended {
			return io.EOF
		}
		if err := s.window(); err != nil {
			return err
		}
	}
	d := &s.drawn[s.place]
	s.place++
	r.Line, r.At, r.Input, r.Output, r.Key = int64(s.h.RowsRead+1), d.at, d.input, d.output, s.clients[d.client].name
	return nil
}

// window draws the requests of all clients in their next window, sorted.
func (s *serveGen) window() error {
	s.drawn, s.place = s.drawn[:0], 0
	now := make([]serveGenWindow, len(s.clients))
	for i, c := range s.clients {
		now[i] = c.ahead
		if c.ended || now[i].start != now[0].start {
			return c.in.Errorf("no window at %v s, wanted those of all other clients", float64(now[0].start)/1e6)
		}
		if err := c.advance(); err != nil {
			return err
		}
	}
	if next := s.clients[0]; !next.ended {
		if s.length = next.ahead.start - now[0].start; s.length <= 0 {
			return next.in.Errorf("the window begins %v s after the one before, wanted a later one", float64(s.length)/1e6)
		}
	} else if s.length == 0 {
		s.length = serveGenWidth
	}
	for i := range now {
		if err := s.draw(int32(i), &now[i]); err != nil {
			return err
		}
	}
	slices.SortStableFunc(s.drawn, func(a, b serveGenRequest) int { return cmp.Compare(a.at, b.at) })
	return nil
}

// draw draws a client's requests: gaps of its distribution, scaled so that they
// fill the window, as upstream does.
func (s *serveGen) draw(client int32, w *serveGenWindow) error {
	c := s.clients[client]
	n := int(w.rate*float64(s.length)/1e6 + c.rng.Float64())
	if n == 0 {
		return nil
	}
	if len(s.drawn)+n > mostDrawn {
		return c.in.Errorf("more than %d requests in a window, which is the most that are drawn at once", mostDrawn)
	}
	lengths, err := c.lengthsAt(w.start)
	if err != nil {
		return err
	}
	gap := distuv.Gamma{Alpha: w.shape, Beta: 1, Src: c.rng}.Rand
	if w.pattern == "Weibull" {
		gap = distuv.Weibull{K: w.shape, Lambda: 1, Src: c.rng}.Rand
	}
	ends, sum := make([]float64, n), 0.0
	for i := range ends {
		sum += gap()
		ends[i] = sum
	}
	if !(sum > 0) || math.IsInf(sum, 0) {
		return c.in.Errorf("gaps of shape %v come to %v, wanted a positive sum", w.shape, sum)
	}
	early := ends[0] * c.rng.Float64() // the first gap began in the window before
	for _, end := range ends {
		s.drawn = append(s.drawn, serveGenRequest{
			at: w.start + int64((end-early)/sum*float64(s.length)), client: client,
			input: lengths.input.draw(c.rng), output: lengths.output.draw(c.rng),
		})
	}
	return nil
}

// Close implements io.Closer.
func (s *serveGen) Close() error {
	for _, c := range s.clients {
		c.in.Close()
	}
	return nil
}
