package main

import (
	"fmt"
	"math"
	"sync"
	"time"
)

// sustained is a store under full load for long: writers in a closed loop, followers of all that they write, a
// compaction now and then, and a trickle of lease renewals. It says what each slice of time was like as soon as it is
// over. What it holds in memory grows with the keys that are alive, not with the time.
type sustained struct {
	run       *closedRun
	churn     *churn
	following *following
	renewals  *paced
	renewed   histogram
	compacted histogram
	compactor *connection
	looks     struct {
		writes             [writeKinds]counted
		events             counted
		renewals, compacts counted
		delivered          int64
	}
}

func runSustained() error {
	s := &sustained{}
	var err error
	if s.run, err = newClosedRun(*connections, *inflight); err != nil {
		return err
	}
	defer s.run.close()
	s.churn = newChurn(len(s.run.slots))
	s.run.record = s.churn.record
	write := s.churn.operation()
	pick := func(int64) *operation { return write }
	s.churn.filling = true
	s.run.phase(int64(*keys), pick)
	s.churn.filling = false
	s.churn.forget()
	if s.following, err = follow(); err != nil {
		return err
	}
	if s.compactor, err = dial(*target); err != nil {
		return err
	}
	defer s.compactor.close()
	stop := make(chan struct{})
	var others sync.WaitGroup
	if *keepAliveRate > 0 {
		if s.renewals, err = pacedKeepAlives(); err != nil {
			return err
		}
		s.renewals.record = func(dueNs, doneNs int64) { s.renewed.add(doneNs - dueNs) }
	}
	waitForStart()
	// The preparation is no part of the first slice.
	s.look()
	if s.renewals != nil {
		others.Go(func() { s.renewals.send(stop) })
		others.Go(s.renewals.read)
	}
	others.Go(func() { s.compact(stop) })
	writing := make(chan struct{})
	go func() {
		s.run.phase(math.MaxInt64/2, pick)
		close(writing)
	}()
	s.report(time.Now())
	s.run.stop()
	<-writing
	close(stop)
	others.Wait()
	s.following.finish(s.churn.acknowledged)
	alive, err := s.churn.verify(s.compactor)
	if err != nil {
		return err
	}
	(&outcome{Op: "verify", Requests: 1, Items: alive}).print()
	return nil
}

// report prints each slice at its end, until the last.
func (s *sustained) report(start time.Time) {
	last, cpu := start, cpuSeconds()
	for number := 1; time.Duration(number)**slice <= *duration; number++ {
		time.Sleep(time.Until(start.Add(time.Duration(number) * *slice)))
		now, cpuNow := time.Now(), cpuSeconds()
		behind := s.following.behind(s.churn.newest.Load())
		lines := s.look()
		for _, line := range lines {
			line.outcome.Phase = fmt.Sprint(number)
			line.outcome.summariseCounted(now.Sub(last), line.counted)
			line.outcome.print()
		}
		(&outcome{Op: "slice", Phase: fmt.Sprint(number), Seconds: now.Sub(last).Seconds(), Items: behind, ClientCPU: cpuNow - cpu}).print()
		last, cpu = now, cpuNow
	}
}

type sliceLine struct {
	outcome *outcome
	counted *counted
}

// look returns what came since the last look.
func (s *sustained) look() []sliceLine {
	all := &counted{}
	var lines []sliceLine
	for kind, name := range writeKindNames {
		added := s.churn.latencies[kind].since(&s.looks.writes[kind])
		all.plus(added)
		lines = append(lines, sliceLine{&outcome{Op: name}, added})
	}
	delivered := s.following.delivered()
	events := &outcome{Op: "event", Items: delivered - s.looks.delivered}
	s.looks.delivered = delivered
	return append(lines,
		sliceLine{&outcome{Op: "write"}, all},
		sliceLine{events, s.following.latencies.since(&s.looks.events)},
		sliceLine{&outcome{Op: "keepalive"}, s.renewed.since(&s.looks.renewals)},
		sliceLine{&outcome{Op: "compact"}, s.compacted.since(&s.looks.compacts)})
}

type compaction struct{ ended bool }

func (*compaction) message([]byte) {}

func (c *compaction) end(status string) {
	c.ended = true
	if status != "0" {
		fail("compact: status %s", status)
	}
}

// compact drops what is older than the newest revisions, again and again, as kube-apiserver does: without waiting for
// the physical end.
func (s *sustained) compact(stop <-chan struct{}) {
	ticker := time.NewTicker(*compactEvery)
	defer ticker.Stop()
	for {
		select {
		case <-stop:
			return
		case <-ticker.C:
		}
		revision := s.churn.newest.Load() - int64(*compactKeep)
		if revision <= 0 {
			continue
		}
		sentNs := nowNs()
		one := &compaction{}
		s.compactor.open(pathCompact, one, appendInt(nil, compactRevision, revision), true)
		if err := s.compactor.read(func() bool { return !one.ended }); err != nil {
			fail("compact: connection: %v", err)
			return
		}
		s.compacted.add(nowNs() - sentNs)
	}
}
