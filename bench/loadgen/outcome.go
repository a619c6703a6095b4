package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// outcome is one line of the output: what one stream of requests came to. Times in milliseconds are from the moment a
// request was due to its whole answer.
type outcome struct {
	Op       string  `json:"op"`
	Phase    string  `json:"phase,omitempty"`
	Requests int64   `json:"requests"`
	Failures int64   `json:"failures"`
	FirstErr string  `json:"first_error,omitempty"`
	Seconds  float64 `json:"seconds"`
	Rate     float64 `json:"per_second"`
	Items    int64   `json:"items,omitempty"`
	ItemRate float64 `json:"items_per_second,omitempty"`
	Bytes    int64   `json:"bytes_in,omitempty"`
	P50      float64 `json:"p50_ms"`
	P90      float64 `json:"p90_ms"`
	P99      float64 `json:"p99_ms"`
	P999     float64 `json:"p999_ms"`
	Max      float64 `json:"max_ms"`
	// CPU that this client took while it measured, user and system.
	ClientCPU float64 `json:"client_cpu_seconds,omitempty"`
}

// summarise sorts the latencies in place.
func (o *outcome) summarise(elapsed time.Duration, latencies []int64) {
	o.Requests, o.Seconds = int64(len(latencies)), elapsed.Seconds()
	if o.Seconds > 0 {
		o.Rate, o.ItemRate = float64(o.Requests)/o.Seconds, float64(o.Items)/o.Seconds
	}
	if len(latencies) == 0 {
		return
	}
	slices.Sort(latencies)
	at := func(share float64) float64 { return float64(latencies[int(share*float64(len(latencies)-1))]) / 1e6 }
	o.P50, o.P90, o.P99, o.P999, o.Max = at(0.5), at(0.9), at(0.99), at(0.999), at(1)
}

var failures struct {
	count atomic.Int64
	first sync.Once
	text  atomic.Pointer[string]
}

// fail counts one failure; the first one's text is kept.
func fail(format string, args ...any) {
	failures.count.Add(1)
	failures.first.Do(func() {
		text := fmt.Sprintf(format, args...)
		failures.text.Store(&text)
	})
}

var printing sync.Mutex

func (o *outcome) print() {
	printing.Lock()
	defer printing.Unlock()
	o.Failures = failures.count.Load()
	if text := failures.text.Load(); text != nil {
		o.FirstErr = *text
	}
	json.NewEncoder(os.Stdout).Encode(o)
}

func cpuSeconds() float64 {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds()
}

func nowNs() int64 { return int64(time.Since(origin)) }

// origin makes times monotonic, and small.
var origin = time.Now()
