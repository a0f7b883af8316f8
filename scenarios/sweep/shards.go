package sweep

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cacheroute/scenarios"
)

// Shard is the cells I, I+N, I+2N and so on of a plan.
type Shard struct{ I, N int }

func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.I, s.N) }

// maxShards is far above what an engine takes.
const maxShards = 1_000_000

// ParseShard reads I/N. If only is not empty, I is a place in this list of
// shards instead, as engines number tasks from 0 on.
func ParseShard(text, only string) (Shard, error) {
	i, n, ok := strings.Cut(text, "/")
	s := Shard{}
	var err1, err2 error
	s.I, err1 = strconv.Atoi(i)
	s.N, err2 = strconv.Atoi(n)
	if !ok || err1 != nil || err2 != nil || s.N < 1 || s.N > maxShards || s.I < 0 || s.I >= s.N {
		return s, scenarios.Badf("--shard %s: wanted I/N with 0 <= I < N <= %d, such as 0/100", text, maxShards)
	}
	if only == "" {
		return s, nil
	}
	list, err := parseList(only)
	if err != nil || s.I >= len(list) || list[len(list)-1] >= s.N {
		return s, scenarios.Badf("--only %s: wanted rising shards below %d, such as 0,4-9, and more than %d of them", only, s.N, s.I)
	}
	s.I = list[s.I]
	return s, nil
}

// meets says whether the shards of two divisions can share a cell.
func (s Shard) meets(o Shard) bool {
	d := gcd(s.N, o.N)
	return s.I%d == o.I%d
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// list writes rising numbers as 0,4-9.
func list(numbers []int) string {
	var parts []string
	for len(numbers) > 0 {
		n := 1
		for n < len(numbers) && numbers[n] == numbers[0]+n {
			n++
		}
		part := strconv.Itoa(numbers[0])
		if n > 1 {
			part += "-" + strconv.Itoa(numbers[n-1])
		}
		parts = append(parts, part)
		numbers = numbers[n:]
	}
	return strings.Join(parts, ",")
}

// parseList reads what list wrote.
func parseList(text string) (numbers []int, err error) {
	for part := range strings.SplitSeq(text, ",") {
		from, to, span := strings.Cut(part, "-")
		a, err := strconv.Atoi(from)
		b := a
		if span && err == nil {
			b, err = strconv.Atoi(to)
		}
		if err != nil || a < 0 || b < a || b >= maxShards {
			return nil, fmt.Errorf("read %s", part)
		}
		for n := a; n <= b; n++ {
			numbers = append(numbers, n)
		}
	}
	if !slices.IsSorted(numbers) {
		return nil, fmt.Errorf("not rising")
	}
	return numbers, nil
}
