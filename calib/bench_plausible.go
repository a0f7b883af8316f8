package calib

import "fmt"

// implausible says what is wrong with a run's mean latencies in milliseconds,
// empty if nothing is: a run in other units is refused, never rescaled.
func implausible(ttft, tpot, output float64) string {
	switch {
	case output > 1 && tpot < minTPOTMS:
		return fmt.Sprintf("read a mean TPOT of %g ms, %s", tpot, millisecondsInside)
	case tpot > maxTPOTMS:
		return fmt.Sprintf("read a mean TPOT of %g ms, wanted at most %g: are these microseconds?", tpot, maxTPOTMS)
	case ttft < minTTFTMS:
		return fmt.Sprintf("read a mean TTFT of %g ms, %s", ttft, millisecondsInside)
	case ttft > maxTTFTMS:
		return fmt.Sprintf("read a mean TTFT of %g ms, wanted at most %g: are these microseconds?", ttft, maxTTFTMS)
	case output > 1 && ttft < minTTFTOverTPOT*tpot:
		return fmt.Sprintf("read a mean TTFT of %g ms below half the TPOT of %g ms, wanted both in milliseconds", ttft, tpot)
	}
	return ""
}
