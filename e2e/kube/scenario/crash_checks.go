package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

const (
	loadBefore  = 3 * time.Second
	stepTimeout = 90 * time.Second
)

// crashes kills the store or its leader again and again under the load.
func crashes(ctx context.Context, c *cluster) error {
	l, err := startLoad(ctx, c, crashNamespace)
	if err != nil {
		return err
	}
	defer l.end()
	longest, crashErr := l.whileWatched(ctx, func() error { return crashRepeatedly(ctx, c, l.acknowledged) })
	if err := errors.Join(crashErr, l.stopWriting()); err != nil {
		return err
	}
	fmt.Printf("      %d writes over %d crashes; %d answers were lost; the longest time without a write was %v\n",
		l.acknowledged(), *crashesFlag, c.lost.Load(), longest.Round(time.Millisecond))
	lists, err := l.finish(ctx, c, crashNamespace)
	// Past the apiserver's cache nothing but compaction ends what a watch can be continued from.
	if err == nil && lists["secrets"] > 0 {
		return fmt.Errorf("watches of secrets had to list anew %d times", lists["secrets"])
	}
	return err
}

func crashRepeatedly(ctx context.Context, c *cluster, acknowledged func() int) error {
	for crash := range *crashesFlag {
		// Writes go on before each crash, whatever the last one did.
		if err := goesOn(ctx, acknowledged, fmt.Sprintf("writes go on before crash %d", crash+1)); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(*betweenFlag + rand.N(loadBefore)):
		}
		victim := c.store.members[0]
		if len(c.store.members) > 1 {
			leader, err := c.leader(ctx)
			if err != nil {
				return err
			}
			victim = leader
		}
		victim.kill()
		if len(c.store.members) > 1 {
			if err := goesOn(ctx, acknowledged, fmt.Sprintf("the others go on after crash %d", crash+1)); err != nil {
				return err
			}
		}
		if err := c.store.start(ctx); err != nil {
			return err
		}
	}
	return goesOn(ctx, acknowledged, "writes go on after the last crash")
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
