// Command scenario starts a store and a kube-apiserver on it, uses the API as a cluster does, and kills the store, or the
// leader of its members, with kill -9 while it does. Every check has a name and a bound.
//
//	scenario -store LAUNCHER [-members N] [-crashes N -between DURATION] -apiserver BINARY -kubectl BINARY -dir FOLDER
//
// Of several members, a second store with an apiserver at a follower sends spans; with -trace it is the only one.
//
// With -etcd the apiserver starts on an etcd, and is moved to the store and back while it is written to.
//
//	scenario -etcd BINARY -etcdctl BINARY -etcdutl BINARY -engram LAUNCHER -store LAUNCHER [-members N] [-stay DURATION] ...
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Short, so that both happen while we look. For a move they are longer than a store takes to be restored and to start.
var (
	eventTTL           = 10 * time.Second
	compactionInterval = 20 * time.Second
)

const (
	// For one check, whatever it is.
	checkTimeout = 4 * time.Minute
	// Until a watcher has what was written, and until a lost answer can be replaced by a read.
	watchTimeout   = 60 * time.Second
	resolveTimeout = 60 * time.Second
)

var (
	launcherFlag  = flag.String("store", "", "executable that starts the store with etcd's flags")
	membersFlag   = flag.Int("members", 1, "members of the store; of several, the leader is killed")
	crashesFlag   = flag.Int("crashes", 4, "how often")
	betweenFlag   = flag.Duration("between", 0, "from one crash to the next, at least")
	apiserverFlag = flag.String("apiserver", "", "kube-apiserver")
	kubectlFlag   = flag.String("kubectl", "", "kubectl")
	dirFlag       = flag.String("dir", "", "folder for data, logs and certificates")
	etcdFlag      = flag.String("etcd", "", "etcd, from which the apiserver is moved, and to which it comes back")
	etcdctlFlag   = flag.String("etcdctl", "", "etcdctl of that etcd")
	etcdutlFlag   = flag.String("etcdutl", "", "etcdutl of that etcd")
	engramFlag    = flag.String("engram", "", "executable of engram, for its commands")
	mirrorFlag    = flag.Bool("mirror", false, "several members are founded by restore, and follow the etcd by mirror")
	traceFlag     = flag.Bool("trace", false, "only the trace of a kubectl apply, of several members")
	stayFlag      = flag.Duration("stay", 5*time.Second, "how long the apiserver stays on each store before it is moved on")
)

// cluster is what the checks work on.
type cluster struct {
	store *store
	// What the apiserver is moved to next.
	next *store
	// Where it looks for its store; nil: at the store's own addresses.
	relay   *relay
	moves   *moves
	traced  *traced
	server  *apiserver
	etcd    *clientv3.Client
	admin   *client
	kubectl *kubectl
	// Requests whose answer was lost; before the first crash there may be none.
	lost atomic.Int64
}

type step struct {
	name  string
	check func(context.Context, *cluster) error
}

var steps = []step{
	{"the store and kube-apiserver start", start},
	{"namespaces are made, changed, listed and finalized", namespaces},
	{"a custom resource: definition, server-side apply, conflicts, status", customResources},
	{"kubectl applies, reads, waits, patches and deletes", kubectlCommands},
	{"20 clients write 2,000 ConfigMaps, and every watcher sees every change once", manyConfigMaps},
	{"a paged list is one revision, while the pages' objects change", pagedLists},
	{"Events live as long as they should, and then are gone", events},
	{"Leases are renewed, one holder after another", leases},
	{"kill -9 of the store, or of its leader, under load: nothing acknowledged is lost, nothing is seen twice", crashes},
	{"after the crashes, everything works as before", afterCrashes},
	{"kube-apiserver stops in order", stopServer},
	{"nothing is held for calls that have ended, and the store stops in order", stopStore},
}

func main() {
	flag.Parse()
	if *etcdFlag != "" {
		eventTTL, compactionInterval = 20*time.Second, 40*time.Second
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	passed, failed := run(ctx)
	part := "e2e-kube"
	if *etcdFlag != "" {
		part = "e2e-move"
	}
	fmt.Printf("%s: %d passed, %d failed\n", part, passed, failed)
	if failed > 0 || passed == 0 {
		os.Exit(1)
	}
}

func run(ctx context.Context) (passed, failed int) {
	c := &cluster{}
	defer c.stop()
	all := steps
	switch {
	case *etcdFlag != "":
		all = moveSteps
	case *traceFlag:
		all = traceSteps
	case *membersFlag > 1:
		all = slices.Concat(steps, traceSteps)
	}
	for _, step := range all {
		startTime := time.Now()
		checkCtx, cancel := context.WithTimeout(ctx, checkTimeout+time.Duration(*crashesFlag)**betweenFlag)
		err := step.check(checkCtx, c)
		cancel()
		took := time.Since(startTime).Round(100 * time.Millisecond)
		if err == nil {
			passed++
			fmt.Printf("ok    %s (%v)\n", step.name, took)
			continue
		}
		failed++
		fmt.Printf("FAIL  %s (%v)\n%v\n", step.name, took, err)
		if c.admin == nil || ctx.Err() != nil {
			return passed, failed
		}
	}
	return passed, failed
}

func start(ctx context.Context, c *cluster) (err error) {
	if c.store, err = newStore(*launcherFlag, *dirFlag, *membersFlag); err != nil {
		return err
	}
	if err = c.store.start(ctx); err != nil {
		return err
	}
	return startServer(ctx, c, *dirFlag, c.store.urls())
}

// startServer starts the apiserver, with its files in `dir`, and makes the clients.
func startServer(ctx context.Context, c *cluster, dir string, storeURLs []string, flags ...string) (err error) {
	if c.etcd, err = newStoreClient(storeURLs); err != nil {
		return err
	}
	if c.server, err = startAPIServer(ctx, *apiserverFlag, dir, storeURLs, flags...); err != nil {
		return err
	}
	if c.kubectl, err = newKubectl(*kubectlFlag, filepath.Clean(dir), c.server); err != nil {
		return err
	}
	c.admin, err = c.server.newClient("admin")
	return err
}

func (c *cluster) stop() {
	if c.etcd != nil {
		c.etcd.Close()
	}
	if c.server != nil && c.server.process != nil {
		c.server.kill()
	}
	for _, s := range []*store{c.store, c.next} {
		if s != nil {
			s.kill()
		}
	}
	if c.traced != nil {
		c.traced.collector.stop()
	}
}

func stopServer(_ context.Context, c *cluster) error {
	c.server.stop()
	if state := c.server.command.ProcessState; state == nil || !state.Success() {
		return fmt.Errorf("kube-apiserver ended with %v", state)
	}
	return nil
}

func stopStore(ctx context.Context, c *cluster) error {
	err := nothingHeld(ctx, c)
	c.store.stop()
	return err
}

func mustRevision(text string) int64 {
	revision, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic(fmt.Sprintf("resourceVersion %q is no number", text))
	}
	return revision
}

// waitFor asks until the answer is yes, or the context ends.
func waitFor(ctx context.Context, what string, holds func() (bool, error)) error {
	for {
		ok, err := holds()
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		if ok {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", what, ctx.Err())
		case <-time.After(pollInterval):
		}
	}
}

func expectError(what string, err error, is func(error) bool) error {
	if err == nil {
		return fmt.Errorf("%s: it succeeded", what)
	}
	if !is(err) {
		return fmt.Errorf("%s: another error, %s: %w", what, apierrors.ReasonForError(err), err)
	}
	return nil
}
