// loadgen loads a server that speaks etcd's API over raw HTTP/2 frames, so that the client costs little and the server
// is what is measured. README.md says what it does and what it prints.
//
//	loadgen --target 127.0.0.1:2379 --op put --connections 8 --inflight 32 --requests 200000
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"time"
)

var (
	target      = flag.String("target", "127.0.0.1:2379", "host:port of the server, without TLS")
	op          = flag.String("op", "put", "fill put get create update delete mixed list count watch keepalive beside sustained")
	connections = flag.Int("connections", 8, "connections")
	inflight    = flag.Int("inflight", 32, "unanswered requests on each connection")
	requests    = flag.Int("requests", 100000, "requests in all; watch: events written; keepalive: renewals")
	warm        = flag.Int("warm", 0, "requests before the measured ones")
	valueBytes  = flag.Int("value", 512, "bytes of a value, at least 8")
	keys        = flag.Int("keys", 100000, "keys that put and get choose from, that fill writes, that list and count expect")
	prefix      = flag.String("prefix", "/registry/bench/", "what all keys start with")
	limit       = flag.Int("limit", 0, "list: items of a page; 0 is the whole prefix in one answer")
	watchers    = flag.Int("watchers", 100, "watch: watchers over all connections")
	watched     = flag.Int("writes-inflight", 16, "watch: unanswered writes, on one connection")
	prevKv      = flag.Bool("prev-kv", false, "watch: ask for what each event supersedes, as kube-apiserver does")
	token       = flag.String("token", "", "what the calls have as the metadata token; empty: none")
	pause       = flag.Bool("pause", false, `print {"prepared":true} before the measured part, and begin at a line of input`)
	blocks      = flag.Int("blocks", 1, "put, get, list, count: measure so many times the requests, with --pause before each")
	timeout     = flag.Duration("timeout", 5*time.Minute, "end with a failure after this time")

	duration         = flag.Duration("duration", time.Minute, "sustained: how long")
	slice            = flag.Duration("slice", time.Minute, "sustained: what is reported by itself; the duration is a multiple of it")
	turnover         = flag.Int("turnover", 20, "sustained: percent of the writes that create, and as many that delete")
	groups           = flag.Int("groups", 10, "sustained: prefixes that keys are spread over; each watcher watches one")
	watchConnections = flag.Int("watch-connections", 10, "sustained: connections of the watchers")
	compactEvery     = flag.Duration("compact-every", time.Minute, "sustained: time between compactions")
	compactKeep      = flag.Int("compact-keep", 10000, "sustained: newest revisions that a compaction leaves")

	rate          = flag.Int("rate", 2000, "beside: puts a second")
	keepAliveRate = flag.Int("keepalive-rate", 500, "beside, sustained: lease renewals a second")
	disturbance   = flag.String("disturbance", "none", "beside: none list snapshot compact")
	quiet         = flag.Duration("quiet", 3*time.Second, "beside: measured before the disturbance, and after it")
	during        = flag.Duration("during", 5*time.Second, "beside: a disturbance that ends sooner is repeated (compact: once)")
	disturbed     = flag.String("disturbed-prefix", "", "beside: what list lists; by default --prefix")
)

func main() {
	flag.Parse()
	if flag.NArg() > 0 || *valueBytes < 8 || *connections < 1 || *inflight < 1 || *watched < 1 || *requests < 1 || *keys < 1 || *groups < 1 ||
		*watchConnections < 1 || *slice <= 0 || *compactEvery <= 0 || *turnover < 0 || *turnover > 50 {
		flag.Usage()
		os.Exit(2)
	}
	time.AfterFunc(*timeout, func() {
		fail("not done after %v", *timeout)
		(&outcome{Op: *op}).print()
		os.Exit(3)
	})
	if err := perform(); err != nil {
		fail("%v", err)
		(&outcome{Op: *op}).print()
	}
	if failures.count.Load() > 0 {
		os.Exit(1)
	}
}

func perform() error {
	var o *outcome
	var err error
	switch *op {
	case "beside":
		return runBeside()
	case "sustained":
		return runSustained()
	case "watch":
		o, err = runWatch()
	case "keepalive":
		o, err = runKeepAlive()
	default:
		return runUnary(*op)
	}
	if err == nil {
		o.Op = *op
		o.print()
	}
	return err
}

// runUnary warms up, prepares what the operation needs, and measures it, block by block on the same connections.
func runUnary(kind string) error {
	run, err := newClosedRun(*connections, *inflight)
	if err != nil {
		return err
	}
	defer run.close()
	total := int64(*requests)
	pick, err := picker(kind, run, &total)
	if err != nil {
		return err
	}
	if *warm > 0 && kind != "create" && kind != "delete" && kind != "fill" {
		run.phase(int64(*warm), pick)
	}
	for range *blocks {
		waitForStart()
		cpu := cpuSeconds()
		elapsed, latencies := run.phase(total, pick)
		o := &outcome{Op: kind, ClientCPU: cpuSeconds() - cpu, Bytes: run.bytes.Load(), Items: run.items.Load()}
		o.summarise(elapsed, latencies)
		o.print()
	}
	return nil
}

// picker says which operation the i-th request is. fill sets the total: all keys once.
func picker(kind string, run *closedRun, total *int64) (func(i int64) *operation, error) {
	switch kind {
	case "mixed":
		get, _ := operationOf("get", nil)
		update, err := operationOf("update", nil)
		return func(i int64) *operation {
			if i%2 == 0 {
				return get
			}
			return update
		}, err
	case "delete":
		created := &made{make([][]byte, *total), make([]int64, *total)}
		create, _ := operationOf("create", created)
		run.phase(*total, func(int64) *operation { return create })
		remove, err := operationOf(kind, created)
		return func(int64) *operation { return remove }, err
	case "fill":
		*total = int64(*keys)
	}
	one, err := operationOf(kind, nil)
	return func(int64) *operation { return one }, err
}

// waitForStart lets whoever started this look at the server between preparation and measurement.
func waitForStart() {
	if !*pause {
		return
	}
	fmt.Println(`{"prepared":true}`)
	input.ReadString('\n')
}

var input = bufio.NewReader(os.Stdin)
