package main

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// operation is one kind of unary request.
type operation struct {
	path string
	// request appends the i-th request of the run.
	request func(s *slot, to []byte, i int64) []byte
	// answer reads the answer and returns how many items were in it; what is not as it must be it reports with fail.
	answer func(s *slot, message []byte) int64
}

// slot is one client that has at most one request under way.
type slot struct {
	id     int
	run    *closedRun
	on     *reading
	index  int64
	dueNs  int64
	heard  bool
	random *rand.Rand
	// The slot's own key and its mod revision, for update; 0 before the key is there.
	key      []byte
	revision int64
	scratch  []byte
	sent     []byte
	request  []byte
	op       *operation
}

// startID keeps the keys of one run apart from those of all others.
var startID = time.Now().UnixNano() % 1e12

// values is noise, so that no store compresses what another stores as it is; each value is some piece of it.
var values = sync.OnceValue(func() []byte {
	noise := make([]byte, 1<<20+*valueBytes)
	for at := 0; at+8 <= len(noise); at += 8 {
		binary.LittleEndian.PutUint64(noise[at:], rand.Uint64())
	}
	return noise
})

func (s *slot) value() []byte {
	at := s.random.IntN(1 << 20)
	return values()[at : at+*valueBytes]
}

func appendKey(to []byte, i int64) []byte { return fmt.Appendf(to, "%s%010d", *prefix, i) }

func (s *slot) anyKey() []byte {
	s.scratch = appendKey(s.scratch[:0], s.random.Int64N(int64(*keys)))
	return s.scratch
}

func nothing(*slot, []byte) int64 { return 0 }

func succeeded(what string, message []byte) bool {
	if intOf(message, txnSucceeded) != 0 {
		return true
	}
	fail("%s: somebody else has changed the key", what)
	return false
}

// made is what create leaves for delete.
type made struct {
	keys      [][]byte
	revisions []int64
}

func operationOf(kind string, created *made) (*operation, error) {
	end := prefixEnd([]byte(*prefix))
	switch kind {
	case "fill":
		// Every key once, in order.
		return &operation{pathPut, func(s *slot, to []byte, i int64) []byte {
			s.scratch = appendKey(s.scratch[:0], i)
			return putRequest(to, s.scratch, s.value())
		}, nothing}, nil
	case "put":
		return &operation{pathPut, func(s *slot, to []byte, _ int64) []byte {
			return putRequest(to, s.anyKey(), s.value())
		}, nothing}, nil
	case "get":
		return &operation{pathRange, func(s *slot, to []byte, _ int64) []byte {
			return getRequest(to, s.anyKey())
		}, func(_ *slot, message []byte) int64 {
			if bytesOf(message, rangedKvs) == nil {
				fail("get: a key is not there")
			}
			return 0
		}}, nil
	case "create":
		return &operation{pathTxn, func(s *slot, to []byte, i int64) []byte {
			key := fmt.Appendf(s.scratch[:0], "%sc-%d-%010d", *prefix, startID, i)
			s.scratch = key
			if created != nil {
				created.keys[i] = append([]byte(nil), key...)
			}
			s.request = putRequest(s.request[:0], key, s.value())
			return guarded(to, key, 0, opPut, s.request)
		}, func(s *slot, message []byte) int64 {
			if succeeded(kind, message) && created != nil {
				created.revisions[s.index] = revisionOf(message)
			}
			return 0
		}}, nil
	case "delete":
		return &operation{pathTxn, func(s *slot, to []byte, i int64) []byte {
			s.request = appendBytes(s.request[:0], 1, created.keys[i])
			return guarded(to, created.keys[i], created.revisions[i], opDelete, s.request)
		}, func(_ *slot, message []byte) int64 {
			succeeded(kind, message)
			return 0
		}}, nil
	case "update":
		return &operation{pathTxn, func(s *slot, to []byte, _ int64) []byte {
			if s.key == nil {
				s.key = fmt.Appendf(nil, "%su-%d-%06d", *prefix, startID, s.id)
			}
			s.request = putRequest(s.request[:0], s.key, s.value())
			return guarded(to, s.key, s.revision, opPut, s.request)
		}, func(s *slot, message []byte) int64 {
			if succeeded(kind, message) {
				s.revision = revisionOf(message)
			}
			return 0
		}}, nil
	case "list":
		return &operation{pathRange, func(s *slot, to []byte, _ int64) []byte {
			if *limit == 0 {
				return rangeRequest(to, []byte(*prefix), end, 0)
			}
			s.scratch = appendKey(s.scratch[:0], s.random.Int64N(int64(max(1, *keys-*limit))))
			return rangeRequest(to, s.scratch, end, *limit)
		}, listed}, nil
	case "count":
		return &operation{pathRange, func(_ *slot, to []byte, _ int64) []byte {
			return appendInt(rangeRequest(to, []byte(*prefix), end, 0), rangeCountOnly, 1)
		}, func(_ *slot, message []byte) int64 {
			count := intOf(message, rangedCount)
			if count < int64(*keys) {
				fail("count: %d of %d keys", count, *keys)
			}
			return count
		}}, nil
	}
	return nil, fmt.Errorf("there is no operation %q", kind)
}

func listed(_ *slot, message []byte) int64 {
	items, count := int64(0), int64(0)
	f := fieldsOf(message)
	for f.more() {
		switch f.number {
		case rangedKvs:
			items++
		case rangedCount:
			count = int64(f.value)
		}
	}
	expected := count
	if *limit > 0 {
		expected = min(count, int64(*limit))
	}
	if f.broken || items != expected || items == 0 {
		fail("list: %d items where %d were due", items, expected)
	}
	return items
}
