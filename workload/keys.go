package workload

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/zeebo/xxh3"
)

// KeySpecs is the table of key populations: what a study may name, with the
// defaults of each.
var KeySpecs = map[string]func() KeySpec{
	"lognormal": func() KeySpec { return &LognormalKeys{Sigma: 1.65, Count: 128824, Seed: 1} },
	"zipf":      func() KeySpec { return &ZipfKeys{Exponent: 1, Count: 128, Seed: 1} },
	"rates":     func() KeySpec { return &RatesKeys{Seed: 1} },
}

// KeySpec is the parameters of one population of keys.
type KeySpec interface {
	// About is one line for a list.
	About() string
	// Check returns nil or an error that begins with the parameter's name and a
	// colon. It reads no file.
	Check() error
	// Build makes the population. The spec has passed Check.
	Build() (*Keys, error)
}

// TopKeys is the population of which only the most frequent keys are kept, with
// all of the traffic.
func TopKeys(s KeySpec, top int) KeySpec {
	switch s := s.(type) {
	case *LognormalKeys:
		only := *s
		only.Top = top
		return &only
	case *ZipfKeys:
		only := *s
		only.Top = top
		return &only
	case *RatesKeys:
		only := *s
		only.Top = top
		return &only
	}
	panic(fmt.Sprintf("workload: no selection of keys from %T", s))
}

// maxKeys bounds a population: keys are int32 and take some 100 bytes each.
const maxKeys = 1 << 24

// Keys is a population of keys by falling share of the traffic. It is immutable
// and shared by all cells of a study: the seeds of a study replay one
// distribution (paper, section 4), so the population has its own seed.
type Keys struct {
	// Names of the keys; nil when a key is called "k" and its index in the
	// population before the selection.
	Names []string
	// Share of the traffic, falling, ties by name or index; the sum is 1.
	Share []float64
	// Seed of all that belongs to a key, such as the length of its context.
	Seed uint64

	index []int32
}

// Len is the number of keys.
func (k *Keys) Len() int { return len(k.Share) }

// Name is the name of key i.
func (k *Keys) Name(i int) string {
	if k.Names != nil {
		return k.Names[i]
	}
	return "k" + strconv.Itoa(int(k.index[i]))
}

// Hash is an unseeded hash of the name of key i, the same on every machine.
func (k *Keys) Hash(i int) uint64 { return xxh3.HashString(k.Name(i)) }

// selectTop sorts keys by falling weight, keeps the first top of them (0: all)
// and rescales what is left to a sum of 1. names may be nil. Keys of weight 0
// are dropped: they never arrive.
func selectTop(weight []float64, names []string, top int, seed uint64) (*Keys, error) {
	order := make([]int32, 0, len(weight))
	for i, w := range weight {
		if w > 0 {
			order = append(order, int32(i))
		}
	}
	if len(order) == 0 {
		return nil, errors.New("all rates are 0, wanted at least one above 0")
	}
	if top > len(order) {
		return nil, fmt.Errorf("top: %d keys wanted of %d with a rate above 0", top, len(order))
	}
	slices.SortFunc(order, func(a, b int32) int {
		if c := cmp.Compare(weight[b], weight[a]); c != 0 {
			return c
		}
		if names != nil {
			return cmp.Compare(names[a], names[b])
		}
		return cmp.Compare(a, b)
	})
	if top > 0 {
		order = slices.Clip(slices.Clone(order[:top]))
	}
	k := &Keys{Share: make([]float64, len(order)), Seed: seed, index: order}
	var sum float64
	for i, p := range order {
		k.Share[i] = weight[p]
		sum += weight[p]
	}
	if math.IsInf(sum, 0) {
		return nil, errors.New("the sum of the rates is infinite")
	}
	for i := range k.Share {
		k.Share[i] /= sum
	}
	if names != nil {
		k.Names = make([]string, len(order))
		for i, p := range order {
			k.Names[i] = names[p]
		}
	}
	return k, nil
}

// checkCount checks the size of a generated population and of its selection.
func checkCount(count, top int) error {
	if count < 1 || count > maxKeys {
		return fmt.Errorf("count: must be between 1 and %d, got %d", maxKeys, count)
	}
	if top < 0 || top > count {
		return fmt.Errorf("top: must be between 0 (all) and count = %d, got %d", count, top)
	}
	return nil
}

// ScaledKeys is the population with so many times the active keys: the selected
// ones, all if none are selected. It is not there for a number that the
// population cannot give.
func ScaledKeys(s KeySpec, by float64) (KeySpec, bool) {
	scaled := func(top, count *int) bool {
		if *top == 0 {
			*count = int(math.Round(by * float64(*count)))
		} else {
			*top = max(1, int(math.Round(by*float64(*top))))
		}
		return checkCount(*count, *top) == nil
	}
	switch s := s.(type) {
	case *LognormalKeys:
		c := *s
		return &c, scaled(&c.Top, &c.Count)
	case *ZipfKeys:
		c := *s
		return &c, scaled(&c.Top, &c.Count)
	}
	return nil, false
}

// SkewedKeys is the population with so many times the sigma or exponent of its
// rates; a file of rates has none.
func SkewedKeys(s KeySpec, by float64) (KeySpec, bool) {
	switch s := s.(type) {
	case *LognormalKeys:
		c := *s
		c.Sigma *= by
		return &c, c.Sigma <= 10
	case *ZipfKeys:
		c := *s
		c.Exponent *= by
		return &c, c.Exponent <= 20
	}
	return nil, false
}
