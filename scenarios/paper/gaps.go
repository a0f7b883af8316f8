package paper

import (
	"fmt"
	"io"
	"math"
	"path/filepath"

	"cacheroute/results"
	"cacheroute/sim/clock"
)

// The gaps of Appendix D, of which only the number, the coefficient of
// variation and the length of a block are published.
const (
	gapCount       = 22639
	gapCV          = 2.73
	gapBlock       = 50
	gapCorrelation = 0.5 // of the logarithms of neighbours, assumed
)

// lognormalGaps are gaps whose logarithms are an AR(1) series, of mean 1 and of
// exactly the published empirical CV: the spread of the logarithms is found by
// bisection, as the CV of a sample of heavy tail is not that of its law.
func lognormalGaps() []float64 {
	rng := clock.Streams{Seed: 1}.Rand("paper/gaps")
	logs := make([]float64, gapCount)
	last := rng.NormFloat64()
	for i := range logs {
		last = gapCorrelation*last + math.Sqrt(1-gapCorrelation*gapCorrelation)*rng.NormFloat64()
		logs[i] = last
	}
	gaps := make([]float64, gapCount)
	lo, hi := 0.1, 3.0
	for range 60 {
		mid := (lo + hi) / 2
		for i, x := range logs {
			gaps[i] = math.Exp(mid * x)
		}
		if scale(gaps) < gapCV {
			lo = mid
		} else {
			hi = mid
		}
	}
	return gaps
}

// scale gives the gaps a mean of 1 and returns their CV.
func scale(gaps []float64) float64 {
	sum, squares := 0.0, 0.0
	for _, g := range gaps {
		sum += g
	}
	mean := sum / float64(len(gaps))
	for i := range gaps {
		gaps[i] /= mean
		squares += float64((gaps[i] - 1) * (gaps[i] - 1))
	}
	return math.Sqrt(squares / float64(len(gaps)-1))
}

// bootstrap makes the arrivals blocks of the gaps, which it writes to a file.
func (k *kit) bootstrap() error {
	path := filepath.Join(k.folder, "gaps.txt")
	err := results.WriteFileAtomic(path, func(w io.Writer) error {
		for _, g := range lognormalGaps() {
			if _, err := fmt.Fprintf(w, "%.9g\n", g); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	k.change("workload.arrivals", fmt.Sprintf("{name: bootstrap, file: %q, block_length: %d}", path, gapBlock))
	return nil
}
