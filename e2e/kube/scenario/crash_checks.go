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
	crashCount     = 4
	workersOfAKind = 10
	loadBefore     = 3 * time.Second
	stepTimeout    = 90 * time.Second
)

// crashes kills the store again and again while ten clients write ConfigMaps, which the apiserver caches, and ten write
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
	crashErr := crashRepeatedly(ctx, c, func() int { return kinds[0].ledger.count() + kinds[1].ledger.count() })
	close(stop)
	if err := errors.Join(crashErr, <-working); err != nil {
		return err
	}
	fmt.Printf("      %d writes over %d crashes; %d answers were lost\n",
		kinds[0].ledger.count()+kinds[1].ledger.count(), crashCount, c.lost.Load())

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

func crashRepeatedly(ctx context.Context, c *cluster, acknowledged func() int) error {
	for crash := range crashCount {
		// Writes go on before each crash, whatever the last one did.
		before := acknowledged()
		step, cancel := context.WithTimeout(ctx, stepTimeout)
		err := waitFor(step, fmt.Sprintf("writes go on before crash %d", crash+1), func() (bool, error) {
			return acknowledged() > before+200, nil
		})
		cancel()
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(rand.N(loadBefore)):
		}
		c.store.kill()
		if err := c.store.start(ctx); err != nil {
			return err
		}
	}
	before := acknowledged()
	step, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	return waitFor(step, "writes go on after the last crash", func() (bool, error) { return acknowledged() > before+200, nil })
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
