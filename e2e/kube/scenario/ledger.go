package main

import (
	"fmt"
	"sort"
	"strings"
	"sync"
)

type change string

const (
	added    change = "ADDED"
	modified change = "MODIFIED"
	deleted  change = "DELETED"
)

// fact is one change of one object, at one revision of the store.
type fact struct {
	change   change
	key      string // "configmaps/<namespace>/<name>"
	revision int64  // 0 where it is not known: the answer to a deletion does not tell it
}

// ledger holds what certainly happened: writes that were acknowledged, and those whose answer was lost and that a read
// found done.
type ledger struct {
	mutex sync.Mutex
	facts []fact
}

func (l *ledger) add(f fact) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.facts = append(l.facts, f)
}

func (l *ledger) count() int {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return len(l.facts)
}

// sequence is what a watcher saw of one resource, in its order.
type sequence struct {
	mutex sync.Mutex
	facts []fact
	// Between these revisions it was told to list anew, so it cannot have seen every change.
	gaps []gap
	seen chan struct{}
}

type gap struct{ after, upTo int64 }

func newSequence() *sequence { return &sequence{seen: make(chan struct{}, 1)} }

func (s *sequence) add(f fact) {
	s.mutex.Lock()
	s.facts = append(s.facts, f)
	s.mutex.Unlock()
	select {
	case s.seen <- struct{}{}:
	default:
	}
}

func (s *sequence) addGap(after, upTo int64) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.gaps = append(s.gaps, gap{after, upTo})
}

func (s *sequence) snapshot() ([]fact, []gap) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return append([]fact(nil), s.facts...), append([]gap(nil), s.gaps...)
}

func (s *sequence) lastRevision() int64 {
	facts, _ := s.snapshot()
	if len(facts) == 0 {
		return 0
	}
	return facts[len(facts)-1].revision
}

// checkAgainst holds what a watcher saw against what happened: each change once, none that was not asked for, revisions
// rising, and for each object a life that makes sense.
func (s *sequence) checkAgainst(l *ledger) error {
	facts, gaps := s.snapshot()
	if len(gaps) > 0 {
		return fmt.Errorf("the watch could not be continued without a list %d times", len(gaps))
	}
	if err := rising(facts); err != nil {
		return err
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return sameFacts(l.facts, facts)
}

// checkAgainstTruth holds it against another watcher that is known to have seen all; what lies in a gap may be missing.
func (s *sequence) checkAgainstTruth(truth []fact) error {
	facts, gaps := s.snapshot()
	if err := rising(facts); err != nil {
		return err
	}
	inGap := func(f fact) bool {
		for _, g := range gaps {
			if f.revision > g.after && f.revision <= g.upTo {
				return true
			}
		}
		return false
	}
	expected := make([]fact, 0, len(truth))
	for _, f := range truth {
		if !inGap(f) {
			expected = append(expected, f)
		}
	}
	return sameFacts(expected, facts)
}

func rising(facts []fact) error {
	for i := 1; i < len(facts); i++ {
		if facts[i].revision <= facts[i-1].revision {
			return fmt.Errorf("%v came after %v", facts[i], facts[i-1])
		}
	}
	return nil
}

// sameFacts compares without order. A deletion of unknown revision stands for one deletion of its key.
func sameFacts(expected, seen []fact) error {
	type identity struct {
		change   change
		key      string
		revision int64
	}
	anyRevision := map[string]int{}
	wanted := map[identity]int{}
	for _, f := range expected {
		if f.revision == 0 {
			anyRevision[f.key]++
			continue
		}
		wanted[identity(f)]++
	}
	var wrong []string
	for _, f := range seen {
		switch {
		case wanted[identity(f)] > 0:
			wanted[identity(f)]--
		case f.change == deleted && anyRevision[f.key] > 0:
			anyRevision[f.key]--
		default:
			wrong = append(wrong, fmt.Sprintf("seen, but did not happen or was seen before: %v", f))
		}
	}
	for f, count := range wanted {
		if count > 0 {
			wrong = append(wrong, fmt.Sprintf("happened, but was not seen: %v", f))
		}
	}
	for key, count := range anyRevision {
		if count > 0 {
			wrong = append(wrong, fmt.Sprintf("deleted, but that was not seen: %s", key))
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	sort.Strings(wrong)
	return fmt.Errorf("%d of %d changes are wrong:\n  %s", len(wrong), len(expected), strings.Join(wrong[:min(10, len(wrong))], "\n  "))
}
