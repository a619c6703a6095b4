package main

import (
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// closedRun is a closed loop: each slot sends its next request when it has the answer to the last. The slots stay from
// phase to phase (warm-up, then the measured one), with their connections and keys.
type closedRun struct {
	readings []*reading
	slots    []*slot
	pick     func(i int64) *operation
	next     atomic.Int64
	total    int64
	items    atomic.Int64
	bytes    atomic.Int64
	// Where it is set, latencies go there and none are kept: a run may be too long to keep them.
	record func(s *slot, ns int64)
}

// reading is one connection with the slots on it.
type reading struct {
	connection *connection
	slots      []*slot
	busy       int
	latencies  []int64
}

func newClosedRun(connections, inflight int) (*closedRun, error) {
	run := &closedRun{}
	for at := range connections {
		c, err := dial(*target)
		if err != nil {
			run.close()
			return nil, err
		}
		on := &reading{connection: c}
		for slotAt := range inflight {
			id := at*inflight + slotAt
			s := &slot{id: id, run: run, on: on, random: rand.New(rand.NewPCG(uint64(id), uint64(startID)))}
			on.slots = append(on.slots, s)
		}
		run.readings = append(run.readings, on)
		run.slots = append(run.slots, on.slots...)
	}
	return run, nil
}

func (r *closedRun) close() {
	for _, on := range r.readings {
		on.connection.close()
	}
}

// phase sends `total` requests and returns when all are answered.
func (r *closedRun) phase(total int64, pick func(i int64) *operation) (elapsed time.Duration, latencies []int64) {
	r.pick, r.total = pick, total
	r.next.Store(0)
	r.items.Store(0)
	r.bytes.Store(0)
	start := time.Now()
	var readers sync.WaitGroup
	for _, on := range r.readings {
		if r.record == nil {
			on.latencies = make([]int64, 0, int(total)/len(r.readings)+len(on.slots))
		}
		readers.Go(func() {
			on.busy = 0
			for _, s := range on.slots {
				s.start()
			}
			if err := on.connection.read(func() bool { return on.busy > 0 }); err != nil {
				fail("connection: %v", err)
			}
		})
	}
	readers.Wait()
	elapsed = time.Since(start)
	for _, on := range r.readings {
		latencies = slices.Concat(latencies, on.latencies)
	}
	return elapsed, latencies
}

// stop lets the phase end before its total: what is under way is still answered.
func (r *closedRun) stop() { r.next.Store(r.total) }

func (s *slot) start() {
	i := s.run.next.Add(1) - 1
	if i >= s.run.total {
		return
	}
	s.on.busy++
	s.index, s.heard, s.op = i, false, s.run.pick(i)
	message := s.op.request(s, s.buffer(), i)
	s.dueNs = nowNs()
	s.on.connection.open(s.op.path, s, message, true)
	s.sent = message
}

func (s *slot) message(message []byte) {
	s.heard = true
	s.run.bytes.Add(int64(len(message)))
	if items := s.op.answer(s, message); items > 0 {
		s.run.items.Add(items)
	}
}

func (s *slot) end(status string) {
	if status != "0" {
		fail("%s: status %s", s.op.path, status)
	} else if !s.heard {
		fail("%s: an end without an answer", s.op.path)
	}
	if ns := nowNs() - s.dueNs; s.run.record != nil {
		s.run.record(s, ns)
	} else {
		s.on.latencies = append(s.on.latencies, ns)
	}
	s.on.busy--
	s.start()
}

// buffer is the memory of the slot's last request.
func (s *slot) buffer() []byte { return s.sent[:0] }
