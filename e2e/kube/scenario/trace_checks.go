package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	tracedNamespace = "traced"
	traceTimeout    = 30 * time.Second
	// The next object is looked at where the leader changes while one is applied, and where the apiserver writes something else at the same
	// time: an append is in the trace of the first write of its batch.
	tracedAppliesMax = 5
	// Of batches of spans, in milliseconds; five seconds without it.
	exportDelay = "100"
	appliedName = "POST /api/v1/namespaces/{:namespace}/configmaps"
)

const kindInternal, kindServer, kindClient = tracev1.Span_SPAN_KIND_INTERNAL, tracev1.Span_SPAN_KIND_SERVER, tracev1.Span_SPAN_KIND_CLIENT

// For several members: of one there is no follower.
var traceSteps = []step{
	{"a store and kube-apiserver start, which has the address of a follower alone; all send their spans to a collector", startTraced},
	{"a kubectl apply is one trace: kube-apiserver, the follower, the leader, TiKV", appliedTrace},
	{"kube-apiserver stops in order", stopServer},
	{"nothing is held for calls that have ended, and the store stops in order", stopStore},
}

// traced is what records spans, and where they go.
type traced struct {
	collector *collector
	// The member that the apiserver talks to.
	follower *member
}

func startTraced(ctx context.Context, c *cluster) (err error) {
	if *membersFlag < 2 {
		return errors.New("a trace through a follower needs several members")
	}
	// Where this fails, nothing behind it can be looked at.
	c.admin = nil
	if c.etcd != nil {
		c.etcd.Close()
	}
	dir := filepath.Join(*dirFlag, "traced")
	t := &traced{}
	if t.collector, err = startCollector(); err != nil {
		return err
	}
	c.traced = t
	if err = os.Setenv("OTEL_BSP_SCHEDULE_DELAY", exportDelay); err != nil {
		return err
	}
	if c.store, err = newStore(*launcherFlag, dir, *membersFlag); err != nil {
		return err
	}
	// No bound: the apiserver has each of its calls traced, hundreds of them while it starts.
	c.store.flags = []string{"--enable-distributed-tracing", "--distributed-tracing-address=" + t.collector.address,
		"--distributed-tracing-calls-per-second=0"}
	for _, m := range c.store.members {
		m.flags = []string{"--distributed-tracing-instance-id=" + m.name}
	}
	if err = c.store.start(ctx); err != nil {
		return err
	}
	if c.etcd, err = newStoreClient(c.store.urls()); err != nil {
		return err
	}
	leader, err := c.leader(ctx)
	c.etcd.Close()
	if err != nil {
		return err
	}
	t.follower = c.store.members[slices.IndexFunc(c.store.members, func(m *member) bool { return m != leader })]
	config := filepath.Join(dir, "tracing.yaml")
	text := "apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\nendpoint: " + t.collector.address +
		"\nsamplingRatePerMillion: 1000000\n"
	if err = os.WriteFile(config, []byte(text), 0o600); err != nil {
		return err
	}
	return startServer(ctx, c, dir, []string{t.follower.url()}, "--tracing-config-file="+config)
}

func appliedTrace(ctx context.Context, c *cluster) error {
	_, err := c.admin.typed.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: tracedNamespace}},
		metav1.CreateOptions{})
	if err != nil {
		return err
	}
	for at := range tracedAppliesMax {
		leader, err := c.leaderBut(ctx, c.traced.follower)
		if err != nil {
			return err
		}
		object := fmt.Sprintf("settings-%d", at)
		if _, err = c.kubectl.run(ctx, fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: %s}\ndata: {a: b}\n",
			object, tracedNamespace), "apply", "-f", "-"); err != nil {
			return err
		}
		now, err := c.leader(ctx)
		if err != nil {
			return err
		}
		if now != leader {
			continue
		}
		if judged, err := c.traced.judge(ctx, object, leader); judged || err != nil {
			return err
		}
	}
	return fmt.Errorf("the leader changed during each of %d applies, or appended it beside another write", tracedAppliesMax)
}

// leaderBut gives the leader, which another member becomes first if it is this one.
func (c *cluster) leaderBut(ctx context.Context, but *member) (*member, error) {
	leader, err := c.leader(ctx)
	if err != nil || leader != but {
		return leader, err
	}
	other := c.store.members[slices.IndexFunc(c.store.members, func(m *member) bool { return m != but })]
	status, err := c.etcd.Status(ctx, other.url())
	if err != nil {
		return nil, err
	}
	if _, err := c.etcd.MoveLeader(ctx, status.Header.MemberId); err != nil {
		return nil, err
	}
	return other, nil
}

// judge waits until the trace of the object's apply has come as a whole, and prints it. False: its append is in another trace.
func (t *traced) judge(ctx context.Context, object string, leader *member) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, traceTimeout)
	defer cancel()
	for {
		found := t.collector.traceOf(func(one span) bool {
			return one.name == "Create etcd3" && strings.HasSuffix(one.attributes["key"], "/"+tracedNamespace+"/"+object)
		})
		err := found.judge(object, t.follower.name, leader.name)
		if err == nil {
			fmt.Print(found.tree())
			return true, nil
		}
		if t.collector.appendsElsewhere(found, leader.name) {
			return false, nil
		}
		select {
		case <-ctx.Done():
			return false, fmt.Errorf("%w:\n%s", err, found.tree())
		case <-time.After(pollInterval):
		}
	}
}

// judge fails where this is not the whole trace of an object's creation through a follower.
func (t trace) judge(object, follower, leader string) error {
	if roots := t.roots(); len(roots) != 1 || roots[0].parent != "" {
		return fmt.Errorf("%d spans are below none of the trace, and there is one", len(roots))
	}
	wanted := []string{
		line("apiserver", kindServer, appliedName),
		line("apiserver", kindInternal, "Create"),
		line("apiserver", kindInternal, "Create etcd3"),
		line("apiserver", kindClient, "etcdserverpb.KV/Txn"),
		line(follower, kindServer, "etcdserverpb.KV/Txn"),
		line(follower, kindInternal, "txn"),
		line(follower, kindClient, "forward"),
		line(leader, kindServer, "txn"),
		line(leader, kindInternal, "append"),
		line(leader, kindClient, "tikv Prewrite"),
	}
	// Between them are the filters that the apiserver leads a request through.
	filters := func(step string) bool {
		return strings.HasPrefix(step, "apiserver ") && strings.HasSuffix(step, " (internal)") && !slices.Contains(wanted, step)
	}
	if !slices.ContainsFunc(t, func(one span) bool { return slices.Equal(slices.DeleteFunc(t.pathTo(one), filters), wanted) }) {
		return fmt.Errorf("there is no\n  %s", strings.Join(wanted, "\n  "))
	}
	for _, one := range t {
		for name, value := range one.attributes {
			if one.service == "etcd" && strings.Contains(value, object) {
				return fmt.Errorf("%s of %s tells the name of the object in %s: %s", one.name, one.where(), name, value)
			}
		}
	}
	return nil
}

// appendsElsewhere tells whether the leader appended the write of this trace in one batch with a write of another trace, which has the span.
func (c *collector) appendsElsewhere(t trace, leader string) bool {
	at := slices.IndexFunc(t, func(one span) bool { return one.where() == leader && one.name == "txn" })
	if at < 0 || slices.ContainsFunc(t, func(one span) bool { return one.parent == t[at].id }) {
		return false
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return slices.ContainsFunc(c.spans, func(one span) bool {
		return one.where() == leader && one.name == "append" && one.trace != t[at].trace && one.attributes["writes"] != "1" &&
			one.start.Before(t[at].end) && t[at].start.Before(one.end)
	})
}
