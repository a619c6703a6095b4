package main

import (
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"sync/atomic"
)

const (
	creating = iota
	updating
	deleting
	writeKinds
)

var writeKindNames = [writeKinds]string{"create", "update", "delete"}

// churn creates, updates and deletes keys so that about as many stay alive. Each slot has keys of its own, which nobody
// else writes: every guarded transaction must succeed, and what the store holds at the end is known to the last revision.
// A created key is always a new one, so that what a store keeps of deleted keys shows as growth.
type churn struct {
	spaces    []*keyspace
	filling   bool
	latencies [writeKinds]histogram
	newest    atomic.Int64 // the highest revision that was acknowledged
}

// keyspace is one slot's keys.
type keyspace struct {
	target, slack int
	live          []liveKey
	made          int64
	kind          int
	at            int // of the key under way in live; for create it is not there yet
	number        int64
	key           []byte
	acknowledged  []digest // by group
}

type liveKey struct{ number, revision int64 }

// digest stands for a set of events: two sets with the same digest are the same.
type digest struct {
	count int64
	sum   uint64
}

var digestSeed = maphash.MakeSeed()

func (d *digest) add(revision int64, deleted bool, key []byte) {
	hash := maphash.Bytes(digestSeed, key) ^ uint64(revision)*0x9e3779b97f4a7c15
	if deleted {
		hash = ^hash
	}
	hash = (hash ^ hash>>32) * 0xd6e8feb86659fd93
	d.count++
	d.sum += hash ^ hash>>32
}

func newChurn(slots int) *churn {
	c := &churn{}
	for at := range slots {
		target := max(1, (*keys+at)/slots)
		c.spaces = append(c.spaces, &keyspace{target: target, slack: max(1, target/20), acknowledged: make([]digest, *groups)})
	}
	return c
}

func groupPrefix(to []byte, group int) []byte { return fmt.Appendf(to, "%s%03d/", *prefix, group) }

func appendChurned(to []byte, slot int, number int64) []byte {
	return fmt.Appendf(groupPrefix(to, int(number%int64(*groups))), "%05d-%010d", slot, number)
}

func (c *churn) choose(k *keyspace, random *rand.Rand) int {
	live := len(k.live)
	switch {
	case c.filling && live >= k.target:
		return updating
	case live == 0 || c.filling || live < k.target-k.slack:
		return creating
	case live > k.target+k.slack:
		return deleting
	}
	// As many are created as deleted; the rest are updates.
	switch draw := random.IntN(100); {
	case draw < *turnover:
		return creating
	case draw < 2**turnover:
		return deleting
	}
	return updating
}

func (c *churn) operation() *operation {
	return &operation{pathTxn, func(s *slot, to []byte, _ int64) []byte {
		k := c.spaces[s.id]
		k.kind = c.choose(k, s.random)
		revision := int64(0)
		if k.kind == creating {
			k.number = k.made
			k.made++
		} else {
			k.at = s.random.IntN(len(k.live))
			k.number, revision = k.live[k.at].number, k.live[k.at].revision
		}
		k.key = appendChurned(k.key[:0], s.id, k.number)
		if k.kind == deleting {
			s.request = appendBytes(s.request[:0], 1, k.key)
			return guarded(to, k.key, revision, opDelete, s.request)
		}
		s.request = putRequest(s.request[:0], k.key, s.value())
		stamp(s.request[len(s.request)-*valueBytes:])
		return guarded(to, k.key, revision, opPut, s.request)
	}, func(s *slot, message []byte) int64 {
		k := c.spaces[s.id]
		if !succeeded(writeKindNames[k.kind], message) {
			return 0
		}
		revision := revisionOf(message)
		k.acknowledged[k.number%int64(*groups)].add(revision, k.kind == deleting, k.key)
		switch k.kind {
		case creating:
			k.live = append(k.live, liveKey{k.number, revision})
		case updating:
			k.live[k.at].revision = revision
		case deleting:
			last := len(k.live) - 1
			k.live[k.at] = k.live[last]
			k.live = k.live[:last]
		}
		for newest := c.newest.Load(); newest < revision && !c.newest.CompareAndSwap(newest, revision); {
			newest = c.newest.Load()
		}
		return 0
	}}
}

func (c *churn) record(s *slot, ns int64) { c.latencies[c.spaces[s.id].kind].add(ns) }

// acknowledged is what every watcher of a group must have seen. Only when no request is under way.
func (c *churn) acknowledged(group int) digest {
	var all digest
	for _, k := range c.spaces {
		all.count += k.acknowledged[group].count
		all.sum += k.acknowledged[group].sum
	}
	return all
}

// forget starts the digests anew: nobody has watched so far.
func (c *churn) forget() {
	for _, k := range c.spaces {
		clear(k.acknowledged)
	}
}

// verify reads all keys in pages and holds them against what was acknowledged; it returns how many there are.
func (c *churn) verify(on *connection) (int64, error) {
	expected := map[string]int64{}
	for id, k := range c.spaces {
		for _, live := range k.live {
			expected[string(appendChurned(nil, id, live.number))] = live.revision
		}
	}
	alive := int64(len(expected))
	from, end := []byte(*prefix), prefixEnd([]byte(*prefix))
	for {
		page := &pageReceiver{expected: expected}
		on.open(pathRange, page, rangeRequest(nil, from, end, verifyPage), true)
		if err := on.read(func() bool { return !page.ended }); err != nil {
			return 0, err
		}
		if page.items < verifyPage {
			break
		}
		from = append(page.last, 0)
	}
	if left := len(expected); left > 0 {
		fail("verify: %d of %d acknowledged keys are not there", left, alive)
	}
	return alive, nil
}

const verifyPage = 1000

type pageReceiver struct {
	expected map[string]int64
	items    int
	last     []byte
	ended    bool
}

func (p *pageReceiver) message(message []byte) {
	for f := fieldsOf(message); f.more(); {
		if f.number != rangedKvs {
			continue
		}
		p.items++
		p.last = append(p.last[:0], bytesOf(f.bytes, kvKey)...)
		revision, known := p.expected[string(p.last)]
		if got := intOf(f.bytes, kvModRevision); !known {
			fail("verify: %s is there and should not be", p.last)
		} else if got != revision {
			fail("verify: %s has mod revision %d, acknowledged was %d", p.last, got, revision)
		}
		delete(p.expected, string(p.last))
	}
}

func (p *pageReceiver) end(status string) {
	p.ended = true
	if status != "0" {
		fail("verify: status %s", status)
	}
}
