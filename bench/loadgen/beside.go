package main

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

const (
	tick        = time.Millisecond
	heldUpAfter = 5 * time.Millisecond
	// More unanswered requests than this are a failure, not a latency: the server has stopped answering.
	unansweredMax = 200_000
	drainMax      = 30 * time.Second
)

type sample struct{ dueNs, doneNs int64 }

// paced is an open loop: requests go out at a fixed rate whether or not the server answers, so that a server that
// stands still for a second shows in all the requests of that second. The latency counts from the sending, which waits
// for no answer; where the sending itself was held up (the server reads no more), it counts from when it was due.
type paced struct {
	name       string
	connection *connection
	rate       int
	begin      func(dueNs int64)
	// Where it is set, times go there and none are kept.
	record   func(dueNs, doneNs int64)
	mu       sync.Mutex
	samples  []sample
	answered int
	sent     int
}

func (p *paced) note(dueNs int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answered++
	if p.record != nil {
		p.record(dueNs, nowNs())
		return
	}
	p.samples = append(p.samples, sample{dueNs, nowNs()})
}

func (p *paced) unanswered() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sent - p.answered
}

// send runs until told to stop, then until all is answered.
func (p *paced) send(stop <-chan struct{}) {
	startNs := nowNs()
	heldUp := false
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		select {
		case <-stop:
			p.drain()
			return
		case <-ticker.C:
		}
		wokenNs := nowNs()
		p.mu.Lock()
		from, to := p.sent, 1+int((wokenNs-startNs)*int64(p.rate)/int64(time.Second))
		answered := p.answered
		to = min(to, answered+unansweredMax)
		p.sent = max(from, to)
		p.mu.Unlock()
		if to == from {
			continue
		}
		if to == answered+unansweredMax {
			fail("%s: the server has stopped answering", p.name)
		}
		for at := from; at < to; at++ {
			dueNs := wokenNs
			if heldUp {
				dueNs = startNs + int64(at)*int64(time.Second)/int64(p.rate)
			}
			p.begin(dueNs)
		}
		p.connection.flush()
		heldUp = nowNs()-wokenNs > int64(heldUpAfter)
	}
}

func (p *paced) drain() {
	for deadline := time.Now().Add(drainMax); p.unanswered() > 0 && time.Now().Before(deadline); {
		time.Sleep(tick)
	}
	if left := p.unanswered(); left > 0 {
		fail("%s: %d without an answer %v after the end", p.name, left, drainMax)
	}
	p.connection.close()
}

// read serves the connection until drain closes it.
func (p *paced) read() {
	err := p.connection.read(func() bool { return true })
	if left := p.unanswered(); left > 0 {
		fail("%s: connection: %v", p.name, err)
	}
}

// pacedCall is one unary request of an open loop.
type pacedCall struct {
	of    *paced
	dueNs int64
}

func (*pacedCall) message([]byte) {}

func (c *pacedCall) end(status string) {
	if status != "0" {
		fail("%s: status %s", c.of.name, status)
	}
	c.of.note(c.dueNs)
}

func pacedPuts() (*paced, error) {
	c, err := dial(*target)
	if err != nil {
		return nil, err
	}
	p := &paced{name: "put", connection: c, rate: *rate}
	client := &slot{random: rand.New(rand.NewPCG(1, uint64(startID)))}
	p.begin = func(dueNs int64) {
		client.request = putRequest(client.request[:0], client.anyKey(), client.value())
		c.open(pathPut, &pacedCall{p, dueNs}, client.request, true)
	}
	return p, nil
}

func pacedKeepAlives() (*paced, error) {
	c, err := dial(*target)
	if err != nil {
		return nil, err
	}
	p := &paced{name: "keepalive", connection: c, rate: *keepAliveRate}
	renewals := &renewing{connection: c, onAnswer: p.note}
	p.begin = renewals.renew
	if err := renewals.grant(100); err != nil {
		return nil, err
	}
	return p, nil
}

// disturbing is what goes on beside the measured requests.
type disturbing struct {
	connection *connection
	begin      func() (path string, request []byte)
	items      int64
	bytes      int64
	ended      bool
	list       bool
}

func (d *disturbing) message(message []byte) {
	d.bytes += int64(len(message))
	if d.list {
		d.items += listed(nil, message)
	}
}

func (d *disturbing) end(status string) {
	d.ended = true
	if status != "0" {
		fail("%s: status %s", *disturbance, status)
	}
}

func newDisturbing() (*disturbing, error) {
	c, err := dial(*target)
	if err != nil {
		return nil, err
	}
	d := &disturbing{connection: c, list: *disturbance == "list"}
	under := []byte(*prefix)
	if *disturbed != "" {
		under = []byte(*disturbed)
	}
	switch *disturbance {
	case "none":
	case "list":
		d.begin = func() (string, []byte) { return pathRange, rangeRequest(nil, under, prefixEnd(under), 0) }
	case "snapshot":
		d.begin = func() (string, []byte) { return pathSnapshot, nil }
	case "compact":
		d.begin = func() (string, []byte) {
			revision := currentRevision(c)
			return pathCompact, appendInt(appendInt(nil, compactRevision, revision), compactPhysical, 1)
		}
	default:
		return nil, fmt.Errorf("there is no disturbance %q", *disturbance)
	}
	return d, nil
}

type revisionReceiver struct {
	revision int64
	ended    bool
}

func (r *revisionReceiver) message(message []byte) { r.revision = revisionOf(message) }
func (r *revisionReceiver) end(string)             { r.ended = true }

func currentRevision(c *connection) int64 {
	r := &revisionReceiver{}
	c.open(pathRange, r, getRequest(nil, []byte(*prefix)), true)
	if err := c.read(func() bool { return !r.ended }); err != nil {
		fail("connection: %v", err)
	}
	return r.revision
}

// disturb repeats the disturbance until its time is over; a compaction finds nothing to do a second time.
func (d *disturbing) disturb() (latencies []int64) {
	for start := time.Now(); ; {
		if d.begin == nil {
			time.Sleep(*during)
			return nil
		}
		path, request := d.begin()
		sentNs := nowNs()
		d.ended = false
		d.connection.open(path, d, request, true)
		if err := d.connection.read(func() bool { return !d.ended }); err != nil {
			fail("%s: connection: %v", *disturbance, err)
			return latencies
		}
		latencies = append(latencies, nowNs()-sentNs)
		if *disturbance == "compact" || time.Since(start) >= *during {
			return latencies
		}
	}
}

// runBeside measures puts and lease renewals at a fixed rate before, during and after a disturbance.
func runBeside() error {
	puts, err := pacedPuts()
	if err != nil {
		return err
	}
	renewals, err := pacedKeepAlives()
	if err != nil {
		return err
	}
	disturbing, err := newDisturbing()
	if err != nil {
		return err
	}
	defer disturbing.connection.close()
	waitForStart()
	stop := make(chan struct{})
	var all sync.WaitGroup
	for _, p := range []*paced{puts, renewals} {
		all.Go(func() { p.send(stop) })
		all.Go(p.read)
	}
	// The first second belongs to connections and caches.
	time.Sleep(time.Second)
	quietNs := nowNs()
	time.Sleep(*quiet)
	fromNs := nowNs()
	latencies := disturbing.disturb()
	toNs := nowNs()
	time.Sleep(*quiet)
	close(stop)
	all.Wait()
	for _, p := range []*paced{puts, renewals} {
		for _, phase := range []struct {
			name string
			in   func(s sample) bool
			ns   int64
		}{
			{"before", func(s sample) bool { return s.dueNs >= quietNs && s.doneNs < fromNs }, fromNs - quietNs},
			{"during", func(s sample) bool { return s.dueNs < toNs && s.doneNs >= fromNs }, toNs - fromNs},
			{"after", func(s sample) bool { return s.dueNs >= toNs }, int64(*quiet)},
		} {
			var matching []int64
			for _, s := range p.samples {
				if phase.in(s) {
					matching = append(matching, s.doneNs-s.dueNs)
				}
			}
			o := &outcome{Op: p.name, Phase: phase.name}
			o.summarise(time.Duration(phase.ns), matching)
			o.print()
		}
	}
	o := &outcome{Op: *disturbance, Phase: "disturbance", Items: disturbing.items, Bytes: disturbing.bytes}
	o.summarise(time.Duration(toNs-fromNs), latencies)
	o.print()
	return nil
}
