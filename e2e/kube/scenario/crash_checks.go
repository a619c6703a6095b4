package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

const (
	workersOfAKind = 10
	loadBefore     = 3 * time.Second
	stepTimeout    = 90 * time.Second
)

// crashes kills the store or its leader again and again while ten clients write ConfigMaps, which the apiserver caches, and ten write
// Secrets, which it does not.
func crashes(ctx context.Context, c *cluster) error {
	kinds := []struct {
		name   string
		of     func(*client, string) listWatcher
		ledger *ledger
	}{{"configmaps", configMapsOf, &ledger{}}, {"secrets", secretsOf, &ledger{}}}
	var all []*observers
	var workers []*worker
	for _, kind := range kinds {
		o, err := observe(ctx, c, crashNamespace, kind.of, 2)
		if err != nil {
			return err
		}
		defer o.stop()
		all = append(all, o)
		more, err := c.newWorkers(workersOfAKind, kind.name, crashNamespace, kind.ledger)
		if err != nil {
			return err
		}
		workers = append(workers, more...)
	}
	stop := make(chan struct{})
	working := make(chan error, 1)
	go func() {
		working <- together(workers, func(w *worker) error { return w.mixed(ctx, stop) })
	}()
	longest, crashErr := crashRepeatedly(ctx, c, func() int { return kinds[0].ledger.count() + kinds[1].ledger.count() })
	close(stop)
	if err := errors.Join(crashErr, <-working); err != nil {
		return err
	}
	fmt.Printf("      %d writes over %d crashes; %d answers were lost; the longest time without a write was %v\n",
		kinds[0].ledger.count()+kinds[1].ledger.count(), *crashesFlag, c.lost.Load(), longest.Round(time.Millisecond))

	if err := together(workers, func(w *worker) error { return w.checkThere(ctx) }); err != nil {
		return err
	}
	for at, kind := range kinds {
		expected := map[string]string{}
		for _, w := range workers {
			if w.objects.resource() == kind.name {
				for name, r := range w.live {
					expected[name] = r.revision
				}
			}
		}
		listed, err := kind.of(c.admin, crashNamespace).list(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		got := map[string]string{}
		if err := meta.EachListItem(listed, func(object runtime.Object) error {
			accessor, err := meta.Accessor(object)
			got[accessor.GetName()] = accessor.GetResourceVersion()
			return err
		}); err != nil {
			return err
		}
		if err := sameVersions("the "+kind.name, expected, got); err != nil {
			return err
		}
		lists, err := all[at].finish(ctx, kind.ledger)
		if err != nil {
			return fmt.Errorf("%s: %w", kind.name, err)
		}
		// Past the apiserver's cache nothing but compaction ends what a watch can be continued from.
		if kind.name == "secrets" && lists > 0 {
			return fmt.Errorf("watches of secrets had to list anew %d times", lists)
		}
		fmt.Printf("      %s: %d changes seen once each by a watcher of the store and 2 of the API, which listed anew %d times\n",
			kind.name, kind.ledger.count(), lists)
	}
	return nil
}

// crashRepeatedly returns the longest time in which nothing was acknowledged.
func crashRepeatedly(ctx context.Context, c *cluster, acknowledged func() int) (time.Duration, error) {
	stalls, stop := context.WithCancel(ctx)
	defer stop()
	longest := make(chan time.Duration, 1)
	go func() { longest <- longestStall(stalls, acknowledged) }()
	for crash := range *crashesFlag {
		// Writes go on before each crash, whatever the last one did.
		if err := goesOn(ctx, acknowledged, fmt.Sprintf("writes go on before crash %d", crash+1)); err != nil {
			return 0, err
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(*betweenFlag + rand.N(loadBefore)):
		}
		victim := c.store.members[0]
		if len(c.store.members) > 1 {
			leader, err := c.leader(ctx)
			if err != nil {
				return 0, err
			}
			victim = leader
		}
		victim.kill()
		if len(c.store.members) > 1 {
			if err := goesOn(ctx, acknowledged, fmt.Sprintf("the others go on after crash %d", crash+1)); err != nil {
				return 0, err
			}
		}
		if err := c.store.start(ctx); err != nil {
			return 0, err
		}
	}
	err := goesOn(ctx, acknowledged, "writes go on after the last crash")
	stop()
	return <-longest, err
}

func goesOn(ctx context.Context, acknowledged func() int, what string) error {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	before := acknowledged()
	return waitFor(ctx, what, func() (bool, error) { return acknowledged() > before+200, nil })
}

func longestStall(ctx context.Context, acknowledged func() int) (longest time.Duration) {
	count, since := acknowledged(), time.Now()
	for ctx.Err() == nil {
		time.Sleep(5 * time.Millisecond)
		if now := acknowledged(); now != count {
			longest = max(longest, time.Since(since))
			count, since = now, time.Now()
		}
	}
	return longest
}

// afterCrashes does once more what needs the whole apiserver: its caches, its leases in the store, and kubectl.
func afterCrashes(ctx context.Context, c *cluster) error {
	if err := c.server.waitUntil(ctx, "kube-apiserver is ready again", func() bool {
		_, err := c.admin.typed.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
		return err == nil
	}); err != nil {
		return err
	}
	if err := events(ctx, c); err != nil {
		return err
	}
	return kubectlIn(ctx, c.kubectl, "kubectl-again")
}
