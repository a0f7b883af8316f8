package workload

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"

	"cacheroute/sim/clock"
	"cacheroute/workload/lines"
)

// BootstrapArrivals replays blocks of consecutive recorded gaps, each block
// from a random place, rescaled to the offered load (moving-block bootstrap;
// paper, Appendix D: blocks of 50). The file holds one gap in seconds a line.
type BootstrapArrivals struct {
	// File is a text file with one recorded gap in seconds a line.
	File string `yaml:"file" jsonschema:"required,minLength=1"`
	// BlockLength is the number of consecutive gaps that stay together.
	BlockLength int `yaml:"block_length" jsonschema:"minimum=1"`
}

// About implements ArrivalSpec.
func (*BootstrapArrivals) About() string {
	return "moving blocks of recorded gaps: file (one gap in seconds a line), block_length"
}

func (b *BootstrapArrivals) file() *string { return &b.File }

// Check implements ArrivalSpec.
func (b *BootstrapArrivals) Check() error {
	if b.File == "" {
		return errors.New("file: missing")
	}
	if b.BlockLength < 1 {
		return fmt.Errorf("block_length: must be at least 1, got %d", b.BlockLength)
	}
	return nil
}

// Build implements ArrivalSpec.
func (b *BootstrapArrivals) Build() (ArrivalProcess, error) {
	var gaps []float64
	err := lines.Each(b.File, func(line []byte) error {
		gap, err := strconv.ParseFloat(string(line), 64)
		if err != nil || !(gap >= 0 && gap <= 1e9) {
			return fmt.Errorf("read %s, wanted a gap in seconds", lines.Excerpt(line))
		}
		gaps = append(gaps, gap)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(gaps) < b.BlockLength {
		return nil, fmt.Errorf("%s: read %d gaps, wanted at least block_length = %d", b.File, len(gaps), b.BlockLength)
	}
	return newBootstrap(b.File, gaps, b.BlockLength)
}

// newBootstrap scales the gaps to a mean of 1. The gaps near both ends are in
// fewer blocks than the others, so the mean weighs each gap with the number of
// blocks that hold it: the offered load is then met exactly.
func newBootstrap(path string, gaps []float64, block int) (*bootstrap, error) {
	n := len(gaps)
	var weights, sum, squares float64
	for i, g := range gaps {
		w := float64(min(i+1, n-i, block, n-block+1))
		weights += w
		sum += float64(w * g)
		squares += float64(w * g * g)
	}
	mean := sum / weights
	if !(mean > 0) {
		return nil, fmt.Errorf("%s: all gaps are 0, wanted one above 0", path)
	}
	p := &bootstrap{gaps: make([]float64, n), block: block}
	for i, g := range gaps {
		p.gaps[i] = g / mean
	}
	p.cv = math.Sqrt(max(0, squares/weights/mean/mean-1))
	return p, nil
}

type bootstrap struct {
	gaps  []float64 // mean 1
	block int
	cv    float64
}

// GapCV implements ArrivalProcess.
func (p *bootstrap) GapCV() float64 { return p.cv }

// Start implements ArrivalProcess.
func (p *bootstrap) Start(qps float64, rng *rand.Rand) Arrivals {
	return &blocks{bootstrap: p, mean: meanGap(qps), rng: rng}
}

type blocks struct {
	*bootstrap
	mean    float64 // picoseconds
	rng     *rand.Rand
	at, end int // in the current block
}

func (b *blocks) Next() (clock.Time, bool) {
	if b.at == b.end {
		b.at = b.rng.IntN(len(b.gaps) - b.block + 1)
		b.end = b.at + b.block
	}
	gap := b.gaps[b.at]
	b.at++
	return toGap(b.mean * gap), true
}
