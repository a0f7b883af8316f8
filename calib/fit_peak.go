package calib

import "fmt"

// judge refuses costs that beat the hardware.
func (f *fitter) judge(p params) error {
	spec := f.cost(p)
	if err := spec.Check(); err != nil {
		return fmt.Errorf("the rows give no costs: %w", err)
	}
	best, known := peakOf(f.fit.Setup)
	if ms := f.opt.PeakPrefillMS; ms > 0 {
		best.prefillMS, best.source, known = ms, "given with --peak-prefill-token-ms", true
	}
	if !known {
		f.warn("the hardware's peak is not known, so nothing says whether the costs are possible: describe model, gpu, tensor_parallel and precision, or give --peak-prefill-token-ms")
		f.fit.PeakSource = "not known"
		return nil
	}
	f.fit.PeakPrefillMS, f.fit.PeakSource = best.prefillMS, best.source
	if got := 1e3 * PrefillSecondsPerToken(spec.Build()); got < best.prefillMS {
		return &TooFast{fmt.Sprintf("refused: %.3g ms a prompt token beats the hardware's peak of %.3g ms (%s): are lengths, units and hardware right, and do the runs differ enough in prompt length and clients?",
			got, best.prefillMS, best.source)}
	}
	if got := p[0] + p[1]; got < best.stepMS {
		return &TooFast{fmt.Sprintf("refused: a decode step of %.3g ms beats the read of the weights at the memory's peak, %.3g ms: are units and hardware right?", got, best.stepMS)}
	}
	return nil
}
