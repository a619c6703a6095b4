package main

import (
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// follower is one watcher that must see every event of its group, in order, none twice. It keeps a digest of what came,
// and no event.
type follower struct {
	of       *following
	group    int
	seen     digest
	revision atomic.Int64 // the newest that came
	count    atomic.Int64 // seen.count, for others to read
	created  bool
	over     bool
}

// following is all followers, spread over connections and groups.
type following struct {
	connections []*connection
	followers   []*follower
	latencies   histogram // from the write's sending to the event's arrival; deletes carry no time
	ending      atomic.Bool
	created     sync.WaitGroup
	readers     sync.WaitGroup
}

// stamp writes the time into a value.
func stamp(value []byte) { binary.LittleEndian.PutUint64(value, uint64(nowNs())) }

func follow() (*following, error) {
	all := &following{}
	for at := range *watchers {
		if at < *watchConnections {
			c, err := dial(*target)
			if err != nil {
				return nil, err
			}
			all.connections = append(all.connections, c)
		}
		// Each connection has watchers of all groups, as each kube-apiserver has of all resources.
		all.followers = append(all.followers, &follower{of: all, group: at / len(all.connections) % *groups})
	}
	all.created.Add(len(all.followers))
	for at, w := range all.followers {
		under := groupPrefix(nil, w.group)
		create := appendBytes(appendBytes(nil, createKey, under), createEnd, prefixEnd(under))
		all.connections[at%len(all.connections)].open(pathWatch, w, appendBytes(nil, watchCreate, create), false)
	}
	for _, c := range all.connections {
		all.readers.Go(func() {
			if err := c.read(func() bool { return true }); !all.ending.Load() {
				fail("watch: connection: %v", err)
			}
		})
	}
	all.created.Wait()
	return all, nil
}

func (w *follower) message(message []byte) {
	now := nowNs()
	for f := fieldsOf(message); f.more() && !w.over; {
		switch f.number {
		case watchedCreated:
			if f.value != 0 && !w.created {
				w.created = true
				w.of.created.Done()
			}
		case watchedCanceled:
			if f.value != 0 {
				w.end("canceled, compacted at " + fmt.Sprint(intOf(message, watchedCompacted)))
			}
		case watchedEvents:
			w.event(f.bytes, now)
		}
	}
	w.count.Store(w.seen.count)
}

func (w *follower) event(event []byte, now int64) {
	var key, value []byte
	revision, kind := int64(0), uint64(0)
	for f := fieldsOf(event); f.more(); {
		switch f.number {
		case eventType:
			kind = f.value
		case eventKv:
			for kv := fieldsOf(f.bytes); kv.more(); {
				switch kv.number {
				case kvKey:
					key = kv.bytes
				case kvModRevision:
					revision = int64(kv.value)
				case kvValue:
					value = kv.bytes
				}
			}
		}
	}
	// One key in each revision.
	if last := w.revision.Load(); revision <= last {
		fail("watch: revision %d after %d", revision, last)
	}
	w.revision.Store(revision)
	w.seen.add(revision, kind == eventDelete, key)
	if len(value) >= 8 {
		w.of.latencies.add(now - int64(binary.LittleEndian.Uint64(value)))
	}
}

func (w *follower) end(status string) {
	if w.over || w.of.ending.Load() {
		return
	}
	w.over = true
	fail("watch: ended after revision %d: %s", w.revision.Load(), status)
	if !w.created {
		w.created = true
		w.of.created.Done()
	}
}

// behind is how many revisions the slowest follower has before it.
func (all *following) behind(newest int64) int64 {
	most := int64(0)
	for _, w := range all.followers {
		if got := w.revision.Load(); got > 0 {
			most = max(most, newest-got)
		}
	}
	return most
}

func (all *following) delivered() int64 {
	sum := int64(0)
	for _, w := range all.followers {
		sum += w.count.Load()
	}
	return sum
}

// finish waits for what is still under way and holds each follower against what was acknowledged.
func (all *following) finish(acknowledged func(group int) digest) {
	expected := make([]digest, *groups)
	for group := range expected {
		expected[group] = acknowledged(group)
	}
	missing := func() bool {
		for _, w := range all.followers {
			if w.count.Load() < expected[w.group].count {
				return true
			}
		}
		return false
	}
	for deadline := time.Now().Add(drainMax); missing() && time.Now().Before(deadline); {
		time.Sleep(tick)
	}
	all.ending.Store(true)
	for _, c := range all.connections {
		c.close()
	}
	all.readers.Wait()
	for _, w := range all.followers {
		if w.seen.count != expected[w.group].count {
			fail("watch: %d of %d events of group %d", w.seen.count, expected[w.group].count, w.group)
		} else if w.seen != expected[w.group] {
			fail("watch: the events of group %d are not those that were acknowledged", w.group)
		}
	}
}
