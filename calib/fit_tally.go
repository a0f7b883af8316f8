package calib

import "sync/atomic"

// FitTally is how far the fit of a bench is, to be read while it is made.
type FitTally struct {
	Fits atomic.Int64 // to make by simulation, at most
	Done atomic.Int64
	Runs atomic.Int64 // of the bench that were simulated
}

// fewClosely is how many of the readings that were fitted roughly are fitted
// closely.
const fewClosely = 3

// announce counts the fits to come: of the readings, twice of all rows, and of
// the rows without each shape, with and without an overhead.
func (f *fitter) announce(readings int) {
	if !f.opt.Refine {
		return
	}
	n := min(fewClosely, readings) + 2 + 1 + 2*2*len(f.shapes())
	if readings > 1 {
		n += readings
	}
	f.opt.Tally.Fits.Store(int64(n))
}
