// clientlab is the client-go side of the lab: it writes, reads, leaves locks behind, moves money and measures itself, so
// that our client can be held against it. Results are JSON lines on stdout.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/pingcap/log"
	tikverr "github.com/tikv/client-go/v2/error"
	"github.com/tikv/client-go/v2/kv"
	"github.com/tikv/client-go/v2/metrics"
	"github.com/tikv/client-go/v2/txnkv"
	"github.com/tikv/client-go/v2/txnkv/transaction"
	"go.uber.org/zap/zapcore"
)

func must(err error, what string) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", what, err)
		os.Exit(1)
	}
}

func out(v any) {
	b, _ := json.Marshal(v)
	fmt.Println(string(b))
}

func main() {
	log.SetLevel(zapcore.FatalLevel)
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "clientlab PD COMMAND ARGS...")
		os.Exit(2)
	}
	ctx := context.Background()
	cli, err := txnkv.NewClient(strings.Split(os.Args[1], ","))
	must(err, "connect")
	args := os.Args[3:]
	switch os.Args[2] {
	case "put": // put KEY VALUE KEY VALUE ...
		txn, err := cli.Begin()
		must(err, "begin")
		for i := 0; i+1 < len(args); i += 2 {
			must(txn.Set([]byte(args[i]), []byte(args[i+1])), "set")
		}
		must(txn.Commit(ctx), "commit")
	case "scan": // scan START END
		txn, err := cli.Begin()
		must(err, "begin")
		it, err := txn.Iter([]byte(args[0]), []byte(args[1]))
		must(err, "iter")
		for ; it.Valid(); must(it.Next(), "next") {
			out([]string{string(it.Key()), string(it.Value())})
		}
	case "orphan": // orphan 2pc|async KEY VALUE ...: dies between prewrite and commit
		txn, err := cli.Begin()
		must(err, "begin")
		for i := 1; i+1 < len(args); i += 2 {
			must(txn.Set([]byte(args[i]), []byte(args[i+1])), "set")
		}
		c, err := transaction.TxnProbe{KVTxn: txn}.NewCommitter(1)
		must(err, "committer")
		if args[0] == "async" {
			ts, err := cli.GetTimestamp(ctx)
			must(err, "timestamp")
			c.SetUseAsyncCommit()
			c.SetMinCommitTS(ts + 1)
		}
		must(c.PrewriteAllMutations(ctx), "prewrite")
		out(map[string]any{"startTs": strconv.FormatUint(txn.StartTS(), 10)})
		os.Exit(0)
	case "bank": // bank ACCOUNTS CALLERS SECONDS
		n, _ := strconv.Atoi(args[0])
		c, _ := strconv.Atoi(args[1])
		s, _ := strconv.Atoi(args[2])
		bank(ctx, cli, n, c, time.Duration(s)*time.Second)
	case "audit": // audit CALLERS SECONDS: the bank's total at snapshot after snapshot, and at wrong ones again
		c, _ := strconv.Atoi(args[0])
		s, _ := strconv.Atoi(args[1])
		audit(ctx, cli, c, time.Duration(s)*time.Second)
	case "bench": // bench MODES CALLERS SECONDS ROWS [WARM-CALLERS WARM-SECONDS]
		s, _ := strconv.ParseFloat(args[2], 64)
		rows, _ := strconv.Atoi(args[3])
		for _, mode := range strings.Split(args[0], ",") {
			for _, c := range strings.Split(args[1], ",") {
				n, _ := strconv.Atoi(c)
				if len(args) > 5 { // connections, regions and caches, before anything counts
					w, _ := strconv.Atoi(args[4])
					ws, _ := strconv.ParseFloat(args[5], 64)
					measure(ctx, cli, mode, min(n, w), time.Duration(ws*float64(time.Second)), rows)
				}
				out(measure(ctx, cli, mode, n, time.Duration(s*float64(time.Second)), rows))
			}
		}
	default:
		fmt.Fprintln(os.Stderr, "unknown command")
		os.Exit(2)
	}
}

func account(i int) []byte { return []byte(fmt.Sprintf("pbank/%04d", i)) }

func bank(ctx context.Context, cli *txnkv.Client, accounts, callers int, d time.Duration) {
	stop := time.Now().Add(d)
	var mu sync.Mutex
	var wg sync.WaitGroup
	moved, conflicts, failed, wrong := 0, 0, 0, 0
	total := -1
	for w := 0; w < callers; w++ {
		wg.Add(1)
		go func(w int) {
			defer wg.Done()
			r := rand.New(rand.NewSource(int64(w)))
			for i := 0; time.Now().Before(stop); i++ {
				if i%20 == 19 {
					sum, err := sumOf(ctx, cli)
					mu.Lock()
					if err == nil {
						if total == -1 {
							total = sum
						}
						if sum != total {
							wrong++
						}
					}
					mu.Unlock()
					continue
				}
				err := transfer(ctx, cli, r.Intn(accounts), r.Intn(accounts), r.Intn(9)+1)
				mu.Lock()
				if err == nil {
					moved++
				} else if _, ok := errorAs[*tikverr.ErrWriteConflict](err); ok {
					conflicts++
				} else {
					failed++
				}
				mu.Unlock()
			}
		}(w)
	}
	wg.Wait()
	out(map[string]int{"moved": moved, "conflicts": conflicts, "failed": failed, "wrongTotals": wrong, "total": total})
}

func audit(ctx context.Context, cli *txnkv.Client, callers int, d time.Duration) {
	stop := time.Now().Add(d)
	var mu sync.Mutex
	var wg sync.WaitGroup
	audits, failed := 0, 0
	wrong := []string{}
	for w := 0; w < callers; w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for time.Now().Before(stop) {
				ts, err := cli.GetTimestamp(ctx)
				must(err, "timestamp")
				sum, err := sumAt(cli, ts)
				mu.Lock()
				if err != nil {
					failed++
				} else {
					audits++
				}
				mu.Unlock()
				if err == nil && sum != 1_000_000 {
					again, _ := sumAt(cli, ts)
					mu.Lock()
					wrong = append(wrong, fmt.Sprintf("%d at %d, read again %d", sum, ts, again))
					mu.Unlock()
				}
			}
		}()
	}
	wg.Wait()
	out(map[string]any{"audits": audits, "failed": failed, "wrong": wrong})
}

func sumAt(cli *txnkv.Client, ts uint64) (int, error) {
	it, err := cli.GetSnapshot(ts).Iter([]byte("pbank/"), []byte("pbank0"))
	if err != nil {
		return 0, err
	}
	sum := 0
	for it.Valid() {
		v, _ := strconv.Atoi(string(it.Value()))
		sum += v
		if err := it.Next(); err != nil {
			return 0, err
		}
	}
	return sum, nil
}

func errorAs[T error](err error) (T, bool) {
	var t T
	return t, errors.As(err, &t)
}

func sumOf(ctx context.Context, cli *txnkv.Client) (int, error) {
	ts, err := cli.GetTimestamp(ctx)
	if err != nil {
		return 0, err
	}
	return sumAt(cli, ts)
}

func transfer(ctx context.Context, cli *txnkv.Client, from, to, amount int) error {
	if from == to {
		return nil
	}
	txn, err := cli.Begin()
	if err != nil {
		return err
	}
	// In two phases: with the others the raft store of the lab loses updates.
	a, err := txn.Get(ctx, account(from))
	if err != nil {
		return err
	}
	b, err := txn.Get(ctx, account(to))
	if err != nil {
		return err
	}
	x, _ := strconv.Atoi(string(a.Value))
	y, _ := strconv.Atoi(string(b.Value))
	must(txn.Set(account(from), []byte(strconv.Itoa(x-amount))), "set")
	must(txn.Set(account(to), []byte(strconv.Itoa(y+amount))), "set")
	return txn.Commit(ctx)
}

func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func measure(ctx context.Context, cli *txnkv.Client, mode string, c int, d time.Duration, rows int) map[string]any {
	val := make([]byte, 512)
	for i := range val {
		val[i] = byte('a' + i%26)
	}
	var wg sync.WaitGroup
	lat := make([][]time.Duration, c)
	errs := make([]int, c)
	start, used := time.Now(), cpu()
	stop := start.Add(d)
	for w := 0; w < c; w++ {
		wg.Add(1)
		go func(w int) {
			defer wg.Done()
			r := rand.New(rand.NewSource(int64(w)))
			for i := 0; time.Now().Before(stop); i++ {
				t := time.Now()
				if err := one(ctx, cli, mode, w, i, r, val, rows); err != nil {
					errs[w]++
					continue
				}
				lat[w] = append(lat[w], time.Since(t))
			}
		}(w)
	}
	wg.Wait()
	el, used := time.Since(start), cpu()-used
	var all []time.Duration
	bad := 0
	for w := range lat {
		all = append(all, lat[w]...)
		bad += errs[w]
	}
	sort.Slice(all, func(i, j int) bool { return all[i] < all[j] })
	q := func(p float64) float64 {
		if len(all) == 0 {
			return 0
		}
		return float64(all[int(float64(len(all)-1)*p)].Microseconds()) / 1000
	}
	perOp := 0.0
	if len(all) > 0 {
		perOp = float64(used.Microseconds()) / float64(len(all))
	}
	return map[string]any{"client": "client-go", "mode": mode, "callers": c, "perSecond": float64(len(all)) / el.Seconds(), "p50Ms": q(.5), "p99Ms": q(.99), "errors": bad, "cpuUsPerOp": perOp, "commits": metrics.GetTxnCommitCounter()}
}

// Another one for each process: a round does not write the keys of the one before.
var run = os.Getpid() % 1000000

// The last part of the keys of a batch: who measures clients does not measure formatting.
var places = func() (all [128]string) {
	for k := range all {
		all[k] = fmt.Sprintf("%03d", k)
	}
	return
}()

func row(i int) []byte { return []byte(fmt.Sprintf("prow/%06d", i)) }

func one(ctx context.Context, cli *txnkv.Client, mode string, w, i int, r *rand.Rand, val []byte, rows int) error {
	switch mode {
	case "tso":
		_, err := cli.GetTimestamp(ctx)
		return err
	case "newest":
		_, err := cli.GetSnapshot(^uint64(0)).Get(ctx, row(r.Intn(rows)))
		return err
	}
	txn, err := cli.Begin()
	if err != nil {
		return err
	}
	keys := 1
	switch mode {
	case "get":
		_, err := txn.Get(ctx, row(r.Intn(rows)))
		return err
	case "batchget":
		ks := make([][]byte, 100)
		for n := range ks {
			ks[n] = row(r.Intn(rows))
		}
		_, err := txn.GetSnapshot().BatchGet(ctx, ks)
		return err
	case "scan":
		it, err := txn.Iter([]byte("prow/"), []byte("prow0"))
		if err != nil {
			return err
		}
		n := 0
		for ; it.Valid(); n++ {
			if err := it.Next(); err != nil {
				return err
			}
		}
		if n < rows {
			return fmt.Errorf("%d rows", n)
		}
		return nil
	case "async":
		txn.SetEnableAsyncCommit(true)
	case "1pc":
		txn.SetEnable1PC(true)
		txn.SetEnableAsyncCommit(true)
	case "1pc128":
		// One phase is one request: by default client-go cuts at 16 KiB, and takes two phases.
		kv.TxnCommitBatchSize.Store(4 << 20)
		txn.SetEnable1PC(true)
		txn.SetEnableAsyncCommit(true)
		keys, val = 128, val[:256]
	}
	prefix := fmt.Sprintf("pbench/go/%06d/%s/%03d/%09d/", run, mode, w, i)
	for k := 0; k < keys; k++ {
		if err := txn.Set([]byte(prefix+places[k]), val); err != nil {
			return err
		}
	}
	return txn.Commit(ctx)
}
