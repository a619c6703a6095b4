package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// record is an object of a worker, reduced to what can be compared.
type record struct {
	revision string
	content  string
}

// objects is one resource of one namespace as a worker writes it.
type objects interface {
	resource() string
	create(ctx context.Context, name, content string) (record, error)
	update(ctx context.Context, name, content string, revision string) (record, error)
	remove(ctx context.Context, name string) error
	get(ctx context.Context, name string) (record, error)
}

type configMaps struct {
	client    *client
	namespace string
}

func (configMaps) resource() string { return "configmaps" }
func (c configMaps) object(name, content, revision string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: revision},
		Data:       map[string]string{"content": content, "padding": padding},
	}
}
func configMapRecord(o *corev1.ConfigMap, err error) (record, error) {
	if err != nil {
		return record{}, err
	}
	return record{o.ResourceVersion, o.Data["content"]}, nil
}
func (c configMaps) create(ctx context.Context, name, content string) (record, error) {
	return configMapRecord(c.client.typed.CoreV1().ConfigMaps(c.namespace).Create(ctx, c.object(name, content, ""), metav1.CreateOptions{}))
}
func (c configMaps) update(ctx context.Context, name, content, revision string) (record, error) {
	return configMapRecord(c.client.typed.CoreV1().ConfigMaps(c.namespace).Update(ctx, c.object(name, content, revision), metav1.UpdateOptions{}))
}
func (c configMaps) remove(ctx context.Context, name string) error {
	return c.client.typed.CoreV1().ConfigMaps(c.namespace).Delete(ctx, name, metav1.DeleteOptions{})
}
func (c configMaps) get(ctx context.Context, name string) (record, error) {
	return configMapRecord(c.client.typed.CoreV1().ConfigMaps(c.namespace).Get(ctx, name, metav1.GetOptions{}))
}

type secrets struct {
	client    *client
	namespace string
}

func (secrets) resource() string { return "secrets" }
func (s secrets) object(name, content, revision string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: revision},
		StringData: map[string]string{"content": content, "padding": padding},
	}
}
func secretRecord(o *corev1.Secret, err error) (record, error) {
	if err != nil {
		return record{}, err
	}
	return record{o.ResourceVersion, string(o.Data["content"])}, nil
}
func (s secrets) create(ctx context.Context, name, content string) (record, error) {
	return secretRecord(s.client.typed.CoreV1().Secrets(s.namespace).Create(ctx, s.object(name, content, ""), metav1.CreateOptions{}))
}
func (s secrets) update(ctx context.Context, name, content, revision string) (record, error) {
	return secretRecord(s.client.typed.CoreV1().Secrets(s.namespace).Update(ctx, s.object(name, content, revision), metav1.UpdateOptions{}))
}
func (s secrets) remove(ctx context.Context, name string) error {
	return s.client.typed.CoreV1().Secrets(s.namespace).Delete(ctx, name, metav1.DeleteOptions{})
}
func (s secrets) get(ctx context.Context, name string) (record, error) {
	return secretRecord(s.client.typed.CoreV1().Secrets(s.namespace).Get(ctx, name, metav1.GetOptions{}))
}

var padding = strings.Repeat("k", 900)

// worker writes objects that nobody else writes, so that it always knows what must be there. An answer that is lost it
// replaces by a read: what was asked for has happened whole, or not at all.
type worker struct {
	name      string
	namespace string
	objects   objects
	ledger    *ledger
	resolved  *atomic.Int64 // requests whose answer was lost
	live      map[string]record
	gone      map[string]bool
	created   int
	written   int
}

func newWorker(name, namespace string, o objects, l *ledger, resolved *atomic.Int64) *worker {
	return &worker{
		name: name, namespace: namespace, objects: o, ledger: l, resolved: resolved,
		live: map[string]record{}, gone: map[string]bool{},
	}
}

func (w *worker) key(name string) string {
	return fmt.Sprintf("%s/%s/%s", w.objects.resource(), w.namespace, name)
}

func (w *worker) note(c change, name string, r record) {
	revision := int64(0)
	if c != deleted {
		revision = mustRevision(r.revision)
	}
	w.ledger.add(fact{c, w.key(name), revision})
}

func (w *worker) createNext(ctx context.Context) error {
	name := fmt.Sprintf("%s-%04d", w.name, w.created)
	w.created++
	content := w.nextContent(name)
	got, err := w.objects.create(ctx, name, content)
	if err != nil {
		found, readErr := w.resolve(ctx, name, err)
		if readErr != nil || found == nil {
			return readErr // not there: it did not happen
		}
		if found.content != content {
			return fmt.Errorf("%s is there with what nobody wrote: %q", name, found.content)
		}
		got = *found
	}
	w.live[name] = got
	w.note(added, name, got)
	return nil
}

func (w *worker) updateOne(ctx context.Context, name string) error {
	before := w.live[name]
	content := w.nextContent(name)
	got, err := w.objects.update(ctx, name, content, before.revision)
	if err != nil {
		found, readErr := w.resolve(ctx, name, err)
		if readErr != nil {
			return readErr
		}
		switch {
		case found == nil:
			return fmt.Errorf("%s was acknowledged and is lost", name)
		case *found == before:
			return nil
		case found.content != content:
			return fmt.Errorf("%s holds %q; it should hold %q or %q", name, found.content, before.content, content)
		}
		got = *found
	}
	w.live[name] = got
	w.note(modified, name, got)
	return nil
}

func (w *worker) removeOne(ctx context.Context, name string) error {
	if err := w.objects.remove(ctx, name); err != nil {
		before := w.live[name]
		found, readErr := w.resolve(ctx, name, err)
		if readErr != nil {
			return readErr
		}
		if found != nil {
			if *found != before {
				return fmt.Errorf("%s changed while it was deleted: %v", name, *found)
			}
			return nil
		}
	}
	delete(w.live, name)
	w.gone[name] = true
	w.note(deleted, name, record{})
	return nil
}

// resolve reads until the store answers again; nil: the object does not exist.
func (w *worker) resolve(ctx context.Context, name string, cause error) (*record, error) {
	w.resolved.Add(1)
	deadline := time.Now().Add(resolveTimeout)
	for {
		found, err := w.objects.get(ctx, name)
		switch {
		case err == nil:
			return &found, nil
		case apierrors.IsNotFound(err):
			return nil, nil
		case ctx.Err() != nil || time.Now().After(deadline):
			return nil, fmt.Errorf("%s: no read within %v after %q: %w", name, resolveTimeout, cause, err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pollInterval):
		}
	}
}

func (w *worker) nextContent(name string) string {
	w.written++
	return fmt.Sprintf("%s write %d", name, w.written)
}

// mixed creates, updates and deletes without rest until it is told to stop.
func (w *worker) mixed(ctx context.Context, stop <-chan struct{}) error {
	for step := 0; ; step++ {
		select {
		case <-stop:
			return nil
		default:
		}
		var err error
		switch name := w.anyLive(); {
		case name == "" || step%4 == 0:
			err = w.createNext(ctx)
		case step%7 == 6:
			err = w.removeOne(ctx, name)
		default:
			err = w.updateOne(ctx, name)
		}
		if err != nil {
			return err
		}
	}
}

func (w *worker) anyLive() string {
	for name := range w.live {
		return name
	}
	return ""
}

// checkThere reads everything that was acknowledged.
func (w *worker) checkThere(ctx context.Context) error {
	for name, expected := range w.live {
		found, err := w.objects.get(ctx, name)
		if err != nil {
			return fmt.Errorf("%s was acknowledged: %w", name, err)
		}
		if found != expected {
			return fmt.Errorf("%s is %v, acknowledged was %v", name, found, expected)
		}
	}
	for name := range w.gone {
		if found, err := w.objects.get(ctx, name); !apierrors.IsNotFound(err) {
			return fmt.Errorf("%s was deleted, and is %v (%v)", name, found, err)
		}
	}
	return nil
}

// together runs one function for each worker at the same time and gives the first error.
func together(workers []*worker, work func(*worker) error) error {
	errs := make([]error, len(workers))
	var group sync.WaitGroup
	for at, w := range workers {
		group.Go(func() { errs[at] = work(w) })
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
