package policies

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"cacheroute/sim/clock"
	"cacheroute/workload"
)

// plainPreble is the rule with a map and scans: the destinations that it allows,
// several where chance decides, and a note of the one that was chosen.
type plainPreble struct {
	s    *Preble
	seen map[int32]map[int]clock.Time
}

func (p *plainPreble) allowed(key int32, v *View) map[int]bool {
	least, total := math.MaxInt, 0
	for d := range v.Destinations() {
		least, total = min(least, v.InFlight(d)), total+v.InFlight(d)
	}
	one := 0.0
	if p.s.Admits == "after" {
		one = 1
	}
	base := (float64(total) + one) / float64(v.Destinations())
	if p.s.CapBase == "min" {
		base = float64(least) + one
	}
	most := p.s.CapFactor * base
	if p.s.Admits == "after" {
		most = max(1, most)
	}
	best, when := -1, clock.Time(0)
	for d, at := range p.seen[key] {
		if v.Now-at > clock.FromSeconds(p.s.HistoryExpiry) {
			delete(p.seen[key], d)
			continue
		}
		if float64(v.InFlight(d))+one > most {
			continue
		}
		if best < 0 || v.InFlight(d) < v.InFlight(best) || v.InFlight(d) == v.InFlight(best) && at > when {
			best, when = d, at
		}
	}
	if best >= 0 {
		return map[int]bool{best: true}
	}
	all := map[int]bool{}
	for d := range v.Destinations() {
		if p.s.Spill == "p2c" || v.InFlight(d) == least {
			all[d] = true
		}
	}
	return all
}

func (p *plainPreble) chose(key int32, d int, now clock.Time) {
	if p.s.History == "last" || p.seen[key] == nil {
		p.seen[key] = map[int]clock.Time{}
	}
	p.seen[key][d] = now
}

func TestPrebleAgainstScan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &Preble{
			History:       rapid.SampledFrom([]string{"set", "last"}).Draw(t, "history"),
			HistoryExpiry: 20,
			CapBase:       rapid.SampledFrom([]string{"mean", "min"}).Draw(t, "cap_base"),
			CapFactor:     rapid.SampledFrom([]float64{1.5, 1, 2.25}).Draw(t, "cap_factor"),
			Admits:        rapid.SampledFrom([]string{"before", "after"}).Draw(t, "admits"),
			Spill:         rapid.SampledFrom([]string{"global_min", "p2c"}).Draw(t, "spill"),
		}
		n := rapid.IntRange(1, 8).Draw(t, "destinations") // eighths: floats are exact
		if n == 3 || n > 4 {
			n = 8
		}
		env := testEnv(n, 4, rapid.Uint64().Draw(t, "seed"))
		p, _ := s.Build(env)
		plain := &plainPreble{s: s, seen: map[int32]map[int]clock.Time{}}
		v := NewView(n, 0)
		for range 80 {
			// Every instant is later than the last, so that the most recent is unique.
			v.Advance(v.Now + clock.Second*clock.Time(rapid.SampledFrom([]int{1, 1, 1, 5, 21}).Draw(t, "wait")))
			key := int32(rapid.IntRange(0, 3).Draw(t, "key"))
			want := plain.allowed(key, v)
			d := p.Route(&workload.Request{Key: key}, v)
			if !want[d] {
				t.Fatalf("key %d went to %d, want one of %v", key, d, want)
			}
			plain.chose(key, d, v.Now)
			v.Dispatched(d)
			if d := rapid.IntRange(0, n-1).Draw(t, "done"); v.InFlight(d) > 0 {
				v.Done(d)
			}
		}
	})
}

// BenchmarkPrebleHotKey has one key with 30% of the traffic, whose history
// covers the fleet.
func BenchmarkPrebleHotKey(b *testing.B) {
	for _, fleet := range []int{30, 1000} {
		b.Run(fmt.Sprintf("R=%d", fleet), func(b *testing.B) {
			env := testEnv(fleet, fleet*128/30, 5)
			env.Rates[0] += 3.3 * float64(fleet) * 0.3 / 0.7
			h := newHarness(b, newPreble(), env)
			for range 1500 * fleet {
				h.step()
			}
			b.ReportAllocs()
			for b.Loop() {
				h.step()
			}
		})
	}
}
