package trace

// recent is a map that forgets: it holds the last size entries set or read at
// least, twice as many at most, so that no trace fills the memory.
type recent[K comparable, V any] struct {
	size       int
	young, old map[K]V
}

func newRecent[K comparable, V any](size int) *recent[K, V] {
	return &recent[K, V]{size: size, young: map[K]V{}}
}

func (m *recent[K, V]) get(k K) (V, bool) {
	v, ok := m.young[k]
	if !ok {
		if v, ok = m.old[k]; ok {
			m.set(k, v)
		}
	}
	return v, ok
}

func (m *recent[K, V]) set(k K, v V) {
	if len(m.young) >= m.size {
		m.old, m.young = m.young, map[K]V{}
	}
	m.young[k] = v
}
