package main

import (
	"slices"
	"sync"
	"time"
)

const leaseSeconds = 600

// renewing is one stream of keep-alives. Answers come in the order of the requests.
type renewing struct {
	connection *connection
	stream     *stream
	leases     []int64
	mu         sync.Mutex
	due        []int64 // when the unanswered ones were due, oldest first
	sent       int
	wanted     int
	answered   int
	ended      bool
	onAnswer   func(dueNs int64)
	request    []byte
}

// grant gets the leases that the stream renews in turn.
func (r *renewing) grant(count int) error {
	grants := &granting{count: count}
	for range count {
		r.connection.open(pathGrant, grants, appendInt(nil, grantTTL, leaseSeconds), true)
	}
	if err := r.connection.read(func() bool { return grants.ended < count }); err != nil {
		return err
	}
	r.leases = grants.leases
	return nil
}

type granting struct {
	count, ended int
	leases       []int64
}

func (g *granting) message(message []byte) { g.leases = append(g.leases, intOf(message, grantedID)) }

func (g *granting) end(status string) {
	g.ended++
	if status != "0" {
		fail("grant: status %s", status)
	}
}

// renew sends one keep-alive that is due at a time.
func (r *renewing) renew(dueNs int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.request = appendInt(r.request[:0], keepAliveID, r.leases[r.sent%len(r.leases)])
	r.sent++
	r.due = append(r.due, dueNs)
	if r.stream == nil {
		r.stream = r.connection.open(pathKeepAlive, r, r.request, false)
	} else {
		r.connection.send(r.stream, r.request)
	}
}

func (r *renewing) message(message []byte) {
	if intOf(message, keptTTL) <= 0 {
		fail("keepalive: the lease is gone")
	}
	r.mu.Lock()
	due := r.due[0]
	r.due = r.due[1:]
	r.answered++
	r.mu.Unlock()
	r.onAnswer(due)
}

func (r *renewing) end(status string) {
	fail("keepalive: ended with status %s", status)
	r.ended = true
}

// runKeepAlive renews in a closed loop: one stream for each connection, `inflight` unanswered ones on each.
func runKeepAlive() (*outcome, error) {
	var streams []*renewing
	for range *connections {
		c, err := dial(*target)
		if err != nil {
			return nil, err
		}
		defer c.close()
		r := &renewing{connection: c}
		if err := r.grant(*inflight); err != nil {
			return nil, err
		}
		if len(r.leases) < *inflight {
			return &outcome{}, nil
		}
		streams = append(streams, r)
	}
	if *warm > 0 {
		renewAll(streams, max(1, *warm / *connections))
	}
	waitForStart()
	start, cpu := time.Now(), cpuSeconds()
	latencies := renewAll(streams, max(1, *requests / *connections))
	o := &outcome{ClientCPU: cpuSeconds() - cpu}
	o.summarise(time.Since(start), latencies)
	return o, nil
}

// renewAll sends `count` renewals on each stream.
func renewAll(streams []*renewing, count int) []int64 {
	var readers sync.WaitGroup
	latencies := make([][]int64, len(streams))
	for at, r := range streams {
		readers.Go(func() {
			r.wanted = r.sent + count
			r.onAnswer = func(dueNs int64) {
				now := nowNs()
				latencies[at] = append(latencies[at], now-dueNs)
				if r.sent < r.wanted {
					r.renew(now)
				}
			}
			for range min(*inflight, count) {
				r.renew(nowNs())
			}
			if err := r.connection.read(func() bool { return r.answered < r.wanted && !r.ended }); err != nil {
				fail("keepalive: connection: %v", err)
			}
		})
	}
	readers.Wait()
	return slices.Concat(latencies...)
}
