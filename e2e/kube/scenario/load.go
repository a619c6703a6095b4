package main

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

const workersOfAKind = 10

// load is ten clients that write ConfigMaps, which the apiserver caches, and ten that write Secrets, which it does not. Watchers of
// the API and of the store see what they write.
type load struct {
	kinds   []loadKind
	workers []*worker
	stop    chan struct{}
	working chan error
}

type loadKind struct {
	name      string
	of        func(*client, string) listWatcher
	ledger    *ledger
	observers *observers
}

// startLoad writes until finish is called, or the context ends.
func startLoad(ctx context.Context, c *cluster, namespace string) (*load, error) {
	l := &load{
		kinds: []loadKind{
			{name: "configmaps", of: configMapsOf, ledger: &ledger{}},
			{name: "secrets", of: secretsOf, ledger: &ledger{}},
		},
		stop:    make(chan struct{}),
		working: make(chan error, 1),
	}
	for at := range l.kinds {
		kind := &l.kinds[at]
		var err error
		if kind.observers, err = observe(ctx, c, namespace, kind.of, 2); err != nil {
			l.end()
			return nil, err
		}
		more, err := c.newWorkers(workersOfAKind, kind.name, namespace, kind.ledger)
		if err != nil {
			l.end()
			return nil, err
		}
		l.workers = append(l.workers, more...)
	}
	go func() {
		l.working <- together(l.workers, func(w *worker) error { return w.mixed(ctx, l.stop) })
	}()
	return l, nil
}

// end gives up the watchers.
func (l *load) end() {
	for _, kind := range l.kinds {
		if kind.observers != nil {
			kind.observers.stop()
		}
	}
}

// acknowledged counts the writes.
func (l *load) acknowledged() int { return l.kinds[0].ledger.count() + l.kinds[1].ledger.count() }

// stopWriting returns the first thing that went wrong for a writer.
func (l *load) stopWriting() error {
	close(l.stop)
	return <-l.working
}

// finish compares what was acknowledged with what is there, and with what every watcher saw. It returns how often watchers of the
// API had to list anew, by resource.
func (l *load) finish(ctx context.Context, c *cluster, namespace string) (map[string]int, error) {
	if err := together(l.workers, func(w *worker) error { return w.checkThere(ctx) }); err != nil {
		return nil, err
	}
	lists := map[string]int{}
	for _, kind := range l.kinds {
		expected := map[string]string{}
		for _, w := range l.workers {
			if w.objects.resource() == kind.name {
				for name, r := range w.live {
					expected[name] = r.revision
				}
			}
		}
		listed, err := kind.of(c.admin, namespace).list(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		got := map[string]string{}
		if err := meta.EachListItem(listed, func(object runtime.Object) error {
			accessor, err := meta.Accessor(object)
			got[accessor.GetName()] = accessor.GetResourceVersion()
			return err
		}); err != nil {
			return nil, err
		}
		if err := sameVersions("the "+kind.name, expected, got); err != nil {
			return nil, err
		}
		anew, err := kind.observers.finish(ctx, kind.ledger)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", kind.name, err)
		}
		lists[kind.name] = anew
		fmt.Printf("      %s: %d changes seen once each by a watcher of the store and 2 of the API, which listed anew %d times\n",
			kind.name, kind.ledger.count(), anew)
	}
	return lists, nil
}

// whileWatched runs the work, and returns the longest time in which no write was acknowledged, from before it until writes go on.
func (l *load) whileWatched(ctx context.Context, work func() error) (time.Duration, error) {
	stalls, stop := context.WithCancel(ctx)
	defer stop()
	longest := make(chan time.Duration, 1)
	go func() { longest <- longestStall(stalls, l.acknowledged) }()
	err := work()
	stop()
	return <-longest, err
}
