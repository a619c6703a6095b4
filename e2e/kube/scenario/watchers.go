package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// listWatcher is one resource of one namespace, as a client of the API lists and watches it.
type listWatcher struct {
	resource string
	list     func(context.Context, metav1.ListOptions) (runtime.Object, error)
	watch    func(context.Context, metav1.ListOptions) (watch.Interface, error)
}

func configMapsOf(c *client, namespace string) listWatcher {
	api := c.typed.CoreV1().ConfigMaps(namespace)
	return listWatcher{
		resource: "configmaps",
		list:     func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return api.List(ctx, o) },
		watch:    api.Watch,
	}
}

func secretsOf(c *client, namespace string) listWatcher {
	api := c.typed.CoreV1().Secrets(namespace)
	return listWatcher{
		resource: "secrets",
		list:     func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return api.List(ctx, o) },
		watch:    api.Watch,
	}
}

func revisionOf(object runtime.Object) (int64, error) {
	accessor, err := meta.CommonAccessor(object)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(accessor.GetResourceVersion(), 10, 64)
}

// listRevision is the store's revision as a consistent list of the resource tells it.
func (lw listWatcher) listRevision(ctx context.Context) (int64, error) {
	list, err := lw.list(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return 0, err
	}
	return revisionOf(list)
}

// follow watches from a revision on until the context ends, and goes on after the last event whenever the watch ends.
// Where the server no longer knows the events since then it takes the revision of a new list, and notes the gap.
func (lw listWatcher) follow(ctx context.Context, after int64, into *sequence) {
	for ctx.Err() == nil {
		next, err := lw.watchOnce(ctx, after, into)
		after = max(after, next)
		if ctx.Err() != nil {
			return
		}
		if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
			if listed, err := lw.listRevision(ctx); err == nil {
				into.addGap(after, listed)
				after = listed
				continue
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(pollInterval):
		}
	}
}

// watchOnce follows one watch to its end; it returns the last revision that it told of.
func (lw listWatcher) watchOnce(ctx context.Context, after int64, into *sequence) (int64, error) {
	watcher, err := lw.watch(ctx, metav1.ListOptions{
		ResourceVersion: strconv.FormatInt(after, 10), AllowWatchBookmarks: true,
	})
	if err != nil {
		return after, err
	}
	defer watcher.Stop()
	for event := range watcher.ResultChan() {
		if event.Type == watch.Error {
			return after, apierrors.FromObject(event.Object)
		}
		revision, err := revisionOf(event.Object)
		if err != nil {
			return after, err
		}
		if event.Type != watch.Bookmark {
			accessor, err := meta.Accessor(event.Object)
			if err != nil {
				return after, err
			}
			key := fmt.Sprintf("%s/%s/%s", lw.resource, accessor.GetNamespace(), accessor.GetName())
			into.add(fact{change(event.Type), key, revision})
		}
		after = max(after, revision)
	}
	return after, &apierrors.StatusError{ErrStatus: metav1.Status{Code: http.StatusOK, Reason: "watch ended"}}
}

const registry = "/registry/"

// followStore watches a prefix of the store itself. clientv3 goes on by itself after a crash, from the revision after
// the last that it has seen.
func followStore(ctx context.Context, c *clientv3.Client, prefix string, after int64, into *sequence) error {
	responses := c.Watch(ctx, registry+prefix, clientv3.WithPrefix(), clientv3.WithRev(after+1), clientv3.WithPrevKV())
	for response := range responses {
		if err := response.Err(); err != nil {
			return fmt.Errorf("a watch of the store ended: %w", err)
		}
		for _, event := range response.Events {
			key := strings.TrimPrefix(string(event.Kv.Key), registry)
			switch {
			case event.IsCreate():
				into.add(fact{added, key, event.Kv.ModRevision})
			case event.IsModify():
				into.add(fact{modified, key, event.Kv.ModRevision})
			default:
				into.add(fact{deleted, key, event.Kv.ModRevision})
			}
			if !event.IsCreate() && (event.PrevKv == nil || bytes.Equal(event.PrevKv.Value, event.Kv.Value)) {
				return fmt.Errorf("%s at %d came without the value before it", key, event.Kv.ModRevision)
			}
		}
	}
	return nil
}

// caughtUp waits until a sequence has come as far as a revision that is in it.
func (s *sequence) caughtUp(ctx context.Context, revision int64) error {
	ctx, cancel := context.WithTimeout(ctx, watchTimeout)
	defer cancel()
	for s.lastRevision() < revision {
		select {
		case <-s.seen:
		case <-ctx.Done():
			return fmt.Errorf("a watcher is at revision %d, and not at %d within %v", s.lastRevision(), revision, watchTimeout)
		}
	}
	return nil
}
