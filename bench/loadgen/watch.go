package main

import (
	"encoding/binary"
	"slices"
	"sync"
	"time"
)

// watcher is one watch on a stream of its own. It holds its events against the promises: in order, none twice, none
// missing.
type watcher struct {
	on       *watching
	wanted   int64
	got      int64
	revision int64
	created  bool
}

// watching is one connection with its watchers.
type watching struct {
	connection *connection
	watchers   int
	open       int // watchers whose events have not all come
	starting   int // watchers that the server has not said yes to
	created    *sync.WaitGroup
	latencies  []int64
	failed     bool
}

func (w *watcher) message(message []byte) {
	now := nowNs()
	for f := fieldsOf(message); f.more(); {
		switch f.number {
		case watchedCreated:
			if f.value != 0 && !w.created {
				w.created = true
				w.on.oneStarted()
			}
		case watchedCanceled:
			if f.value != 0 {
				fail("watch: the server ended it")
				w.on.failed = true
			}
		case watchedEvents:
			w.event(f.bytes, now)
		}
	}
	if w.got == w.wanted {
		w.got++
		w.on.open--
	}
}

func (w *watcher) event(event []byte, now int64) {
	w.got++
	var value []byte
	revision := int64(0)
	for f := fieldsOf(bytesOf(event, eventKv)); f.more(); {
		switch f.number {
		case kvModRevision:
			revision = int64(f.value)
		case kvValue:
			value = f.bytes
		}
	}
	// One writer with one key in each revision: a watcher sees each revision once.
	if revision <= w.revision {
		fail("watch: revision %d after %d", revision, w.revision)
	}
	w.revision = revision
	if len(value) >= 8 {
		w.on.latencies = append(w.on.latencies, now-int64(binary.LittleEndian.Uint64(value)))
	}
}

func (w *watcher) end(status string) {
	fail("watch: ended with status %s", status)
	w.on.failed = true
}

func (on *watching) oneStarted() {
	if on.starting--; on.starting == 0 {
		on.created.Done()
	}
}

// runWatch has one writer and many watchers of all that it writes; the latency is from the put's sending to the event's
// arrival at each watcher.
func runWatch() (*outcome, error) {
	end := prefixEnd([]byte(*prefix))
	var created, readers sync.WaitGroup
	var all []*watching
	perConnection := (*watchers + *connections - 1) / *connections
	for opened := 0; opened < *watchers; {
		c, err := dial(*target)
		if err != nil {
			return nil, err
		}
		defer c.close()
		count := min(perConnection, *watchers-opened)
		opened += count
		on := &watching{connection: c, watchers: count, open: count, starting: count, created: &created}
		on.latencies = make([]int64, 0, count**requests)
		created.Add(1)
		all = append(all, on)
		readers.Go(func() {
			create := appendBytes(appendBytes(nil, createKey, []byte(*prefix)), createEnd, end)
			if *prevKv {
				create = appendInt(create, createPrevKv, 1)
			}
			for range count {
				c.open(pathWatch, &watcher{on: on, wanted: int64(*requests)}, appendBytes(nil, watchCreate, create), false)
			}
			err := c.read(func() bool { return on.open > 0 && !on.failed })
			if err != nil {
				fail("watch: connection: %v", err)
			}
			if on.starting > 0 {
				on.created.Done()
			}
		})
	}
	created.Wait()

	writer, err := newClosedRun(1, *watched)
	if err != nil {
		return nil, err
	}
	defer writer.close()
	put := &operation{pathPut, func(s *slot, to []byte, i int64) []byte {
		s.scratch = appendKey(s.scratch[:0], i%1000)
		s.request = append(s.request[:0], s.value()...)
		binary.LittleEndian.PutUint64(s.request, uint64(nowNs()))
		return putRequest(to, s.scratch, s.request)
	}, nothing}
	waitForStart()
	start, cpu := time.Now(), cpuSeconds()
	writer.phase(int64(*requests), func(int64) *operation { return put })
	readers.Wait()
	o := &outcome{ClientCPU: cpuSeconds() - cpu}
	var latencies []int64
	for _, on := range all {
		latencies = slices.Concat(latencies, on.latencies)
	}
	o.Items = int64(len(latencies))
	o.summarise(time.Since(start), latencies)
	o.Requests, o.Rate = int64(*requests), float64(*requests)/o.Seconds
	if o.Items != int64(*requests**watchers) {
		fail("watch: %d of %d events", o.Items, *requests**watchers)
	}
	return o, nil
}
