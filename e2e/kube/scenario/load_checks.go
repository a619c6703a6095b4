package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	clientCount    = 20
	eachClient     = 100
	watcherCount   = 5
	loadNamespace  = "team-1"
	crashNamespace = "team-2"
)

// observers are watchers of one resource: some of the API, and one of the store itself.
type observers struct {
	store *sequence
	api   []*sequence
	err   error
	done  sync.WaitGroup
	stop  context.CancelFunc
}

func observe(ctx context.Context, c *cluster, namespace string, of func(*client, string) listWatcher, count int) (*observers, error) {
	from, err := of(c.admin, namespace).listRevision(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	o := &observers{store: newSequence(), stop: cancel}
	o.done.Go(func() {
		prefix := fmt.Sprintf("%s/%s/", of(c.admin, namespace).resource, namespace)
		if err := followStore(ctx, c.etcd, prefix, from, o.store); err != nil && ctx.Err() == nil {
			o.err = err
		}
	})
	for at := range count {
		watching, err := c.server.newClient(fmt.Sprintf("watcher-%d", at))
		if err != nil {
			cancel()
			return nil, err
		}
		seen := newSequence()
		o.api = append(o.api, seen)
		o.done.Go(func() { of(watching, namespace).follow(ctx, from, seen) })
	}
	return o, nil
}

// finish waits until every observer has come as far as the last write, and holds what they saw against the ledger.
// How often a watcher of the API had to list anew is told: no store can help that when the apiserver's cache starts anew.
func (o *observers) finish(ctx context.Context, l *ledger) (lists int, err error) {
	defer o.done.Wait()
	defer o.stop()
	last := int64(0)
	for _, f := range l.facts {
		last = max(last, f.revision)
	}
	for _, seen := range append([]*sequence{o.store}, o.api...) {
		if err := seen.caughtUp(ctx, last); err != nil {
			return 0, fmt.Errorf("%w (%v)", err, o.err)
		}
	}
	// A deletion may be the last of all, and its revision is only in the events.
	if err := waitFor(ctx, "the last deletions are seen", func() (bool, error) {
		facts, _ := o.store.snapshot()
		return len(facts) >= l.count(), nil
	}); err != nil {
		return 0, err
	}
	for _, seen := range o.api {
		if err := seen.caughtUp(ctx, o.store.lastRevision()); err != nil {
			return 0, err
		}
	}
	o.stop()
	o.done.Wait()
	if o.err != nil {
		return 0, o.err
	}
	if err := o.store.checkAgainst(l); err != nil {
		return 0, fmt.Errorf("a watcher of the store: %w", err)
	}
	truth, _ := o.store.snapshot()
	for at, seen := range o.api {
		if err := seen.checkAgainstTruth(truth); err != nil {
			return 0, fmt.Errorf("watcher %d of the API: %w", at, err)
		}
		_, gaps := seen.snapshot()
		lists += len(gaps)
	}
	return lists, nil
}

func (c *cluster) newWorkers(count int, kind, namespace string, l *ledger) ([]*worker, error) {
	workers := make([]*worker, count)
	for at := range count {
		own, err := c.server.newClient(fmt.Sprintf("worker-%d", at))
		if err != nil {
			return nil, err
		}
		var o objects = configMaps{own, namespace}
		if kind == "secrets" {
			o = secrets{own, namespace}
		}
		workers[at] = newWorker(fmt.Sprintf("client-%02d", at), namespace, o, l, &c.lost)
	}
	return workers, nil
}

func manyConfigMaps(ctx context.Context, c *cluster) error {
	l := &ledger{}
	o, err := observe(ctx, c, loadNamespace, configMapsOf, watcherCount)
	if err != nil {
		return err
	}
	defer o.stop()
	workers, err := c.newWorkers(clientCount, "configmaps", loadNamespace, l)
	if err != nil {
		return err
	}
	startTime := time.Now()
	err = together(workers, func(w *worker) error {
		for range eachClient {
			if err := w.createNext(ctx); err != nil {
				return err
			}
		}
		for name := range w.live {
			if err := w.updateOne(ctx, name); err != nil {
				return err
			}
		}
		for name := range w.live {
			if len(w.live) <= eachClient*3/4 {
				break
			}
			if err := w.removeOne(ctx, name); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	fmt.Printf("      %d writes in %v\n", l.count(), time.Since(startTime).Round(time.Millisecond))
	if lost := c.lost.Load(); lost > 0 {
		return fmt.Errorf("%d requests failed while nothing was wrong", lost)
	}
	lists, err := o.finish(ctx, l)
	if err == nil && lists > 0 {
		return fmt.Errorf("a watch had to list anew %d times while nothing was wrong", lists)
	}
	return err
}

func pagedLists(ctx context.Context, c *cluster) error {
	api := c.admin.typed.CoreV1().ConfigMaps(loadNamespace)
	whole, err := api.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	expected := map[string]string{}
	for _, item := range whole.Items {
		expected[item.Name] = item.ResourceVersion
	}
	page, err := api.List(ctx, metav1.ListOptions{Limit: 100})
	if err != nil {
		return err
	}
	revision := page.ResourceVersion
	got := map[string]string{}
	for pages := 1; ; pages++ {
		if page.ResourceVersion != revision {
			return fmt.Errorf("page %d is of revision %s, the first was of %s", pages, page.ResourceVersion, revision)
		}
		for _, item := range page.Items {
			if got[item.Name] != "" {
				return fmt.Errorf("%s is on two pages", item.Name)
			}
			got[item.Name] = item.ResourceVersion
		}
		if page.Continue == "" {
			break
		}
		if left := len(expected) - len(got); page.RemainingItemCount == nil || *page.RemainingItemCount != int64(left) {
			return fmt.Errorf("page %d says that %v remain, %d do", pages, page.RemainingItemCount, left)
		}
		// What changes between the pages must not be seen in them: the next page's objects are deleted and changed.
		victim := whole.Items[min(len(got)+50, len(whole.Items)-1)].DeepCopy()
		if victim.Data["content"] += " changed"; pages%2 == 0 {
			err = api.Delete(ctx, victim.Name, metav1.DeleteOptions{})
		} else {
			_, err = api.Update(ctx, victim, metav1.UpdateOptions{})
		}
		if err != nil {
			return err
		}
		if page, err = api.List(ctx, metav1.ListOptions{Limit: 100, Continue: page.Continue}); err != nil {
			return err
		}
	}
	if err := sameVersions("the pages", expected, got); err != nil {
		return err
	}
	exact, err := api.List(ctx, metav1.ListOptions{ResourceVersion: revision, ResourceVersionMatch: metav1.ResourceVersionMatchExact})
	if err != nil {
		return err
	}
	again := map[string]string{}
	for _, item := range exact.Items {
		again[item.Name] = item.ResourceVersion
	}
	return sameVersions("a list at exactly that revision", expected, again)
}

func sameVersions(what string, expected, got map[string]string) error {
	if len(expected) != len(got) {
		return fmt.Errorf("%s: %d objects, not %d", what, len(got), len(expected))
	}
	for name, revision := range expected {
		if got[name] != revision {
			return fmt.Errorf("%s: %s is at %q, not at %q", what, name, got[name], revision)
		}
	}
	return nil
}

func events(ctx context.Context, c *cluster) error {
	const count = 300
	api := c.admin.typed.CoreV1().Events(loadNamespace)
	for i := range count {
		_, err := api.Create(ctx, &corev1.Event{
			ObjectMeta:     metav1.ObjectMeta{Name: fmt.Sprintf("event-%03d", i)},
			InvolvedObject: corev1.ObjectReference{Kind: "ConfigMap", Namespace: loadNamespace, Name: "any"},
			Reason:         "Tested", Type: corev1.EventTypeNormal,
		}, metav1.CreateOptions{})
		if err != nil {
			return err
		}
	}
	lastMade := time.Now()
	listed, err := api.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	newest, left := fmt.Sprintf("event-%03d", count-1), map[string]bool{}
	for _, item := range listed.Items {
		left[item.Name] = true
	}
	if !left[newest] {
		return fmt.Errorf("%s is not there %v after it was made", newest, time.Since(lastMade))
	}
	watcher, err := api.Watch(ctx, metav1.ListOptions{ResourceVersion: listed.ResourceVersion})
	if err != nil {
		return err
	}
	defer watcher.Stop()
	// kube-apiserver shares a lease among events that are made close together, so an end may be somewhat late.
	tooLate := time.After(eventTTL + 20*time.Second)
	for len(left) > 0 {
		select {
		case event, open := <-watcher.ResultChan():
			if !open {
				return fmt.Errorf("the watch ended with %d events left", len(left))
			}
			gone, isEvent := event.Object.(*corev1.Event)
			if !isEvent || change(event.Type) != deleted {
				return fmt.Errorf("an unexpected %s: %v", event.Type, event.Object)
			}
			if !left[gone.Name] {
				return fmt.Errorf("%s is gone twice", gone.Name)
			}
			delete(left, gone.Name)
			// Whole seconds: a lease ends at the first look after its time.
			if lived := time.Since(lastMade); gone.Name == newest && lived < eventTTL-time.Second {
				return fmt.Errorf("%s lived %v instead of %v", newest, lived, eventTTL)
			}
		case <-tooLate:
			return fmt.Errorf("%d events are still there %v after the last was made", len(left), time.Since(lastMade))
		}
	}
	listed, err = api.List(ctx, metav1.ListOptions{})
	if err == nil && len(listed.Items) > 0 {
		return fmt.Errorf("%d events are listed after all were deleted", len(listed.Items))
	}
	return err
}

// leases: 20 candidates for one Lease, as leader election has them, and each renews one of its own as a kubelet does.
func leases(ctx context.Context, c *cluster) error {
	const renewals = 20
	api := func(c *client) interface {
		Create(context.Context, *coordinationv1.Lease, metav1.CreateOptions) (*coordinationv1.Lease, error)
		Update(context.Context, *coordinationv1.Lease, metav1.UpdateOptions) (*coordinationv1.Lease, error)
		Get(context.Context, string, metav1.GetOptions) (*coordinationv1.Lease, error)
	} {
		return c.typed.CoordinationV1().Leases(loadNamespace)
	}
	lease := func(name, holder string) *coordinationv1.Lease {
		now, seconds, transitions := metav1.NowMicro(), int32(40), int32(0)
		return &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: coordinationv1.LeaseSpec{
				HolderIdentity: &holder, RenewTime: &now, LeaseDurationSeconds: &seconds, LeaseTransitions: &transitions,
			},
		}
	}
	if _, err := api(c.admin).Create(ctx, lease("leader", "nobody"), metav1.CreateOptions{}); err != nil {
		return err
	}
	taken := make([]int32, clientCount)
	errs := make([]error, clientCount)
	var group sync.WaitGroup
	for at := range clientCount {
		group.Go(func() {
			errs[at] = func() error {
				own, err := c.server.newClient(fmt.Sprintf("holder-%d", at))
				if err != nil {
					return err
				}
				holder := fmt.Sprintf("holder-%02d", at)
				mine, err := api(own).Create(ctx, lease(holder, holder), metav1.CreateOptions{})
				if err != nil {
					return err
				}
				for range renewals {
					before := mustRevision(mine.ResourceVersion)
					now := metav1.NowMicro()
					mine.Spec.RenewTime = &now
					if mine, err = api(own).Update(ctx, mine, metav1.UpdateOptions{}); err != nil {
						return err
					}
					if after := mustRevision(mine.ResourceVersion); after <= before {
						return fmt.Errorf("a renewal went from revision %d to %d", before, after)
					}
					shared, err := api(own).Get(ctx, "leader", metav1.GetOptions{})
					if err != nil {
						return err
					}
					shared.Spec.HolderIdentity = &holder
					*shared.Spec.LeaseTransitions++
					_, err = api(own).Update(ctx, shared, metav1.UpdateOptions{})
					if err == nil {
						taken[at]++
					} else if !apierrors.IsConflict(err) {
						return err
					}
				}
				return nil
			}()
		})
	}
	group.Wait()
	total := int32(0)
	for at := range clientCount {
		if errs[at] != nil {
			return errs[at]
		}
		total += taken[at]
	}
	leader, err := api(c.admin).Get(ctx, "leader", metav1.GetOptions{})
	if err == nil && *leader.Spec.LeaseTransitions != total {
		return fmt.Errorf("the shared lease was taken %d times, and counts %d", total, *leader.Spec.LeaseTransitions)
	}
	return err
}
