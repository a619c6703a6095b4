package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

const (
	firstKey    = "\x00"
	pageLimit   = 500
	comparesMax = 3
)

// sameHistory compares two stores up to a revision: every key at it, and every event that neither has compacted. The apiserver may
// compact one of them meanwhile. It returns the numbers of keys and of events.
func sameHistory(ctx context.Context, old, next *clientv3.Client, at int64) (keys, events int, err error) {
	for range comparesMax {
		keys, events, err = compareOnce(ctx, old, next, at)
		if !errors.Is(err, rpctypes.ErrCompacted) {
			break
		}
	}
	return keys, events, err
}

func compareOnce(ctx context.Context, old, next *clientv3.Client, at int64) (keys, events int, err error) {
	from := int64(0)
	both := []*clientv3.Client{old, next}
	var kept, seen [2][]string
	for _, c := range both {
		compacted, err := compactRevision(ctx, c)
		if err != nil {
			return 0, 0, err
		}
		from = max(from, compacted+1)
	}
	for which, c := range both {
		if kept[which], err = keysAt(ctx, c, at); err != nil {
			return 0, 0, err
		}
		if seen[which], err = eventsOf(ctx, c, from, at); err != nil {
			return 0, 0, err
		}
	}
	if err := sameLines(fmt.Sprintf("keys at %d", at), kept[0], kept[1]); err != nil {
		return 0, 0, err
	}
	return len(kept[0]), len(seen[0]), sameLines(fmt.Sprintf("events from %d to %d", from, at), seen[0], seen[1])
}

func sameLines(what string, old, next []string) error {
	for at := range max(len(old), len(next)) {
		var left, right string
		if at < len(old) {
			left = old[at]
		}
		if at < len(next) {
			right = next[at]
		}
		if left != right {
			return fmt.Errorf("%s, line %d: before the move\n  %s\nand behind it\n  %s", what, at, left, right)
		}
	}
	return nil
}

func compactRevision(ctx context.Context, c *clientv3.Client) (int64, error) {
	hash, err := c.HashKV(ctx, c.Endpoints()[0], 0)
	if err != nil {
		return 0, err
	}
	return max(0, hash.CompactRevision), nil
}

func newestRevision(ctx context.Context, c *clientv3.Client) (int64, error) {
	counted, err := c.Get(ctx, firstKey, clientv3.WithFromKey(), clientv3.WithCountOnly())
	if err != nil {
		return 0, err
	}
	return counted.Header.Revision, nil
}

func lineOf(kv *mvccpb.KeyValue) string {
	if kv == nil {
		return "nothing"
	}
	return fmt.Sprintf("%q created %d modified %d version %d lease %x value %x",
		kv.Key, kv.CreateRevision, kv.ModRevision, kv.Version, kv.Lease, sha256.Sum256(kv.Value))
}

func keysAt(ctx context.Context, c *clientv3.Client, revision int64) (lines []string, err error) {
	for key := firstKey; ; {
		page, err := c.Get(ctx, key, clientv3.WithFromKey(), clientv3.WithRev(revision), clientv3.WithLimit(pageLimit))
		if err != nil {
			return nil, err
		}
		for _, kv := range page.Kvs {
			lines = append(lines, lineOf(kv))
			key = string(kv.Key) + "\x00"
		}
		if !page.More {
			return lines, nil
		}
	}
}

// eventsOf reads the events of the revisions from one to another, which must be there.
func eventsOf(ctx context.Context, c *clientv3.Client, from, to int64) (lines []string, err error) {
	err = readEvents(ctx, c, from, to, func(event *clientv3.Event) error {
		lines = append(lines, fmt.Sprintf("%v %s before: %s", event.Type, lineOf(event.Kv), lineOf(event.PrevKv)))
		return nil
	})
	return lines, err
}

func readEvents(ctx context.Context, c *clientv3.Client, from, to int64, take func(*clientv3.Event) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if from > to {
		return nil
	}
	for response := range c.Watch(ctx, firstKey, clientv3.WithFromKey(), clientv3.WithRev(from), clientv3.WithPrevKV()) {
		if err := response.Err(); err != nil {
			return err
		}
		last := int64(0)
		for _, event := range response.Events {
			if last = event.Kv.ModRevision; last > to {
				return nil
			}
			if err := take(event); err != nil {
				return err
			}
		}
		// Not in fragments: all events of a revision are in one message.
		if last == to {
			return nil
		}
	}
	return fmt.Errorf("a watch from %d to %d has ended: %w", from, to, ctx.Err())
}

// nothingWritten fails if anybody has written to a store after a revision. Leases that it still has may have ended.
func nothingWritten(ctx context.Context, c *clientv3.Client, after int64) error {
	newest, err := newestRevision(ctx, c)
	if err != nil {
		return err
	}
	return readEvents(ctx, c, after+1, newest, func(event *clientv3.Event) error {
		if event.Type == clientv3.EventTypeDelete && event.PrevKv != nil && event.PrevKv.Lease != 0 {
			return nil
		}
		return fmt.Errorf("written to the old store after the move: %v %s", event.Type, lineOf(event.Kv))
	})
}
