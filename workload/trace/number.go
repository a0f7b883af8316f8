package trace

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"cacheroute/workload/lines"
)

// maxMicros bounds recorded times: sums of two fit in an int64. It is 142,000
// years.
const maxMicros = 1 << 62

// micros reads a decimal number of a unit of 10^-exponent seconds as whole
// microseconds, cut. No float64 is on the way: seconds of an epoch keep all
// their digits.
func micros(text string, exponent int) (int64, error) {
	digits, power, _ := strings.Cut(strings.ToLower(text), "e")
	shift := 6 - exponent
	if len(digits) < len(text) {
		n, err := strconv.Atoi(power)
		if err != nil || n < -1000 || n > 1000 {
			return 0, errors.New("no number")
		}
		shift += n
	}
	whole, fraction, _ := strings.Cut(digits, ".")
	if whole+fraction == "" || len(digits) > 400 {
		return 0, errors.New("no number")
	}
	shift -= len(fraction)
	value := uint64(0)
	all := whole + fraction
	if shift < 0 {
		cut := max(0, len(all)+shift)
		if strings.Trim(all[cut:], "0123456789") != "" {
			return 0, errors.New("no number")
		}
		all, shift = all[:cut], 0
	}
	for _, c := range []byte(all) {
		if c < '0' || c > '9' {
			return 0, errors.New("no number")
		}
		if value = value*10 + uint64(c-'0'); value > maxMicros {
			return 0, errors.New("too large")
		}
	}
	for ; shift > 0 && value > 0; shift-- {
		if value *= 10; value > maxMicros {
			return 0, errors.New("too large")
		}
	}
	return int64(value), nil
}

// units are the units of recorded times by their exponents of ten.
var units = map[int]string{0: "s", 3: "ms", 6: "us", 9: "ns"}

// timeOf reads the time that a file calls name.
func timeOf(name, text string, exponent int) (int64, error) {
	v, err := micros(text, exponent)
	if err != nil {
		return 0, fmt.Errorf("%s: read %s, wanted a number of at least 0 (%s)", name, lines.Excerpt([]byte(text)), units[exponent])
	}
	return v, nil
}

// wholeOf reads a whole number digit by digit: no float64 on the way, so that
// 64-bit ids stay apart.
func wholeOf(name, text string, most uint64) (uint64, error) {
	v, err := strconv.ParseUint(text, 10, 64)
	if err != nil || v > most {
		return 0, fmt.Errorf("%s: read %s, wanted a whole number from 0 to %d", name, lines.Excerpt([]byte(text)), most)
	}
	return v, nil
}

// dates are the forms of the dates of traces. A fraction of a second may follow
// each; without a zone it is taken as UTC.
var dates = []string{"2006-01-02 15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05"}

// dateOf reads a date and time as microseconds since 1970.
func dateOf(name, text string) (int64, error) {
	for _, form := range dates {
		if t, err := time.Parse(form, text); err == nil && t.Unix() >= 0 && t.Unix() < 1<<40 {
			return t.UnixMicro(), nil
		}
	}
	return 0, fmt.Errorf("%s: read %s, wanted a date and time like 2023-11-16 18:17:03.97", name, lines.Excerpt([]byte(text)))
}
