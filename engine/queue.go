package engine

// queue is the waiting line: first come first served, except that a preempted
// job returns to the head. It is a ring that grows.
type queue struct {
	ring  []*Job
	head  int
	count int
}

func (q *queue) len() int { return q.count }

func (q *queue) front() *Job { return q.ring[q.head] }

func (q *queue) at(i int) int { return (q.head + i) & (len(q.ring) - 1) }

func (q *queue) grow() {
	if q.count < len(q.ring) {
		return
	}
	ring := make([]*Job, max(8, 2*len(q.ring)))
	for i := range q.count {
		ring[i] = q.ring[q.at(i)]
	}
	q.ring, q.head = ring, 0
}

func (q *queue) pushBack(j *Job) {
	q.grow()
	q.ring[q.at(q.count)] = j
	q.count++
}

func (q *queue) pushFront(j *Job) {
	q.grow()
	q.head = q.at(len(q.ring) - 1)
	q.ring[q.head] = j
	q.count++
}

func (q *queue) popFront() *Job {
	j := q.ring[q.head]
	q.ring[q.head] = nil
	q.head = q.at(1)
	q.count--
	return j
}

// remove takes j out wherever it stands. Jobs that give up are mostly near the
// head.
func (q *queue) remove(j *Job) {
	i := 0
	for q.ring[q.at(i)] != j {
		i++
	}
	for ; i > 0; i-- {
		q.ring[q.at(i)] = q.ring[q.at(i-1)]
	}
	q.popFront()
}
