package main

import (
	"fmt"
	"slices"
	"testing"
)

// wholeTrace is one span below the other, in the order of the list.
func wholeTrace() trace {
	t := trace{
		{service: "apiserver", kind: kindInternal, name: "authentication"},
		{service: "apiserver", kind: kindServer, name: appliedName},
		{service: "apiserver", kind: kindInternal, name: "Create"},
		{service: "apiserver", kind: kindInternal, name: "Create etcd3"},
		{service: "apiserver", kind: kindClient, name: "etcdserverpb.KV/Txn"},
		{service: "etcd", instance: "m2", kind: kindServer, name: "etcdserverpb.KV/Txn"},
		{service: "etcd", instance: "m2", kind: kindInternal, name: "txn"},
		{service: "etcd", instance: "m2", kind: kindClient, name: "forward"},
		{service: "etcd", instance: "m1", kind: kindServer, name: "txn"},
		{service: "etcd", instance: "m1", kind: kindInternal, name: "append"},
		{service: "etcd", instance: "m1", kind: kindClient, name: "tikv Prewrite"},
	}
	for at := range t {
		t[at].trace, t[at].id = "t", fmt.Sprint(at)
		if at > 0 {
			t[at].parent = fmt.Sprint(at - 1)
		}
	}
	return t
}

func TestTraceIsWhole(t *testing.T) {
	if err := wholeTrace().judge("settings-0", "m2", "m1"); err != nil {
		t.Error(err)
	}
	if err := (trace)(nil).judge("settings-0", "m2", "m1"); err == nil {
		t.Error("no spans are a whole trace")
	}
	for at, missing := range wholeTrace() {
		if err := slices.Delete(wholeTrace(), at, at+1).judge("settings-0", "m2", "m1"); err == nil {
			t.Errorf("the trace is whole without %s of %s", missing.name, missing.where())
		}
	}
	if err := wholeTrace().judge("settings-0", "m1", "m2"); err == nil {
		t.Error("the follower may be the leader")
	}
	told := wholeTrace()
	told[6].attributes = map[string]string{"compare.first_key": "/registry/configmaps/traced/settings-0"}
	if err := told.judge("settings-0", "m2", "m1"); err == nil {
		t.Error("a member may tell the name of the object")
	}
}

func TestAppendOfAnotherTrace(t *testing.T) {
	apart := wholeTrace()[:9]
	other := span{trace: "other", service: "etcd", instance: "m1", name: "append", attributes: map[string]string{"writes": "1"}}
	apart[8].end = apart[8].start.Add(2)
	other.start, other.end = apart[8].start.Add(1), apart[8].start.Add(3)
	c := &collector{spans: append(slices.Clone(apart), other)}
	if c.appendsElsewhere(apart, "m1") {
		t.Error("the append of one write is that of another")
	}
	c.spans[9].attributes["writes"] = "2"
	if !c.appendsElsewhere(apart, "m1") {
		t.Error("the append of two writes is not found")
	}
	if c.appendsElsewhere(wholeTrace(), "m1") {
		t.Error("a write has two appends")
	}
}
