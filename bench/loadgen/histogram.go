package main

import (
	"math/bits"
	"sync/atomic"
	"time"
)

const (
	// Steps of a power of two: a quantile is at most 1/64 above what it stands for.
	stepBits = 6
	steps    = 1 << stepBits
	buckets  = (64 - stepBits) << stepBits
)

// histogram counts latencies in a memory that does not grow with them. Any goroutine may add; counts only ever rise, so
// that what a slice of time has added is the difference of two looks.
type histogram struct {
	counts [buckets]atomic.Int64
}

func (h *histogram) add(ns int64) { h.counts[bucketOf(ns)].Add(1) }

func bucketOf(ns int64) int {
	if ns < steps {
		return int(max(ns, 0))
	}
	shift := bits.Len64(uint64(ns)) - stepBits - 1
	return shift<<stepBits + int(ns>>shift)
}

// mostOf is the longest latency that a bucket counts.
func mostOf(bucket int) int64 {
	if bucket < 2*steps {
		return int64(bucket)
	}
	shift := bucket>>stepBits - 1
	return int64(bucket&(steps-1)+steps+1)<<shift - 1
}

// counted is one look at a histogram, or the difference of two.
type counted [buckets]int64

// since returns what came after the last look, and looks.
func (h *histogram) since(last *counted) *counted {
	added := &counted{}
	for at := range h.counts {
		now := h.counts[at].Load()
		added[at] = now - last[at]
		last[at] = now
	}
	return added
}

func (c *counted) plus(other *counted) {
	for at, count := range other {
		c[at] += count
	}
}

func (o *outcome) summariseCounted(elapsed time.Duration, c *counted) {
	total := int64(0)
	for _, count := range c {
		total += count
	}
	o.Requests, o.Seconds = total, elapsed.Seconds()
	if o.Seconds > 0 {
		o.Rate, o.ItemRate = float64(total)/o.Seconds, float64(o.Items)/o.Seconds
	}
	if total == 0 {
		return
	}
	wanted := []struct {
		rank int64
		to   *float64
	}{{total / 2, &o.P50}, {total * 9 / 10, &o.P90}, {total * 99 / 100, &o.P99}, {total * 999 / 1000, &o.P999}, {total - 1, &o.Max}}
	seen := int64(0)
	for bucket, count := range c {
		seen += count
		for len(wanted) > 0 && seen > wanted[0].rank {
			*wanted[0].to = float64(mostOf(bucket)) / 1e6
			wanted = wanted[1:]
		}
	}
}
