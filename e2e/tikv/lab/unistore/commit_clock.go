package main

import (
	"context"
	"math"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/ngaut/unistore/pd"
	"github.com/pingcap/kvproto/pkg/kvrpcpb"
	"github.com/pingcap/kvproto/pkg/tikvpb"
	"google.golang.org/grpc"
)

// logicalBits of a timestamp count within a millisecond.
const logicalBits = 18

// commitClock gives one-phase and asynchronous commits their timestamp as TiKV does: one above the newest that any request
// to this store has carried, so above every snapshot that was read here. PD is asked once for each term and version of a
// region that this store leads: the leader before, or that of a region that was merged into it, may have served newer
// snapshots. The store's own way asked PD for each commit, over a stream that it opened for that.
type commitClock struct {
	pd.Client
	newest atomic.Uint64
	mu     sync.Mutex
	synced map[uint64]tenure // by region
}

// tenure is what a store leads a region in: a term, and the version that splits and merges raise.
type tenure struct{ version, term uint64 }

func newCommitClock(client pd.Client) *commitClock {
	return &commitClock{Client: client, synced: map[uint64]tenure{}}
}

// CommitTS is called under the latches of what is committed, by a store that has just been found to lead the region.
func (c *commitClock) CommitTS(region, version, term uint64) (physical, logical int64, err error) {
	if err := c.sync(region, tenure{version, term}); err != nil {
		return 0, 0, err
	}
	ts := c.newest.Load() + 1
	return int64(ts >> logicalBits), int64(ts & (1<<logicalBits - 1)), nil
}

func (c *commitClock) sync(region uint64, now tenure) error {
	c.mu.Lock()
	synced := c.synced[region] == now
	c.mu.Unlock()
	if synced {
		return nil
	}
	physical, logical, err := c.Client.GetTS(context.Background())
	if err != nil {
		return err
	}
	c.observe(uint64(physical)<<logicalBits | uint64(logical))
	c.mu.Lock()
	c.synced[region] = now
	c.mu.Unlock()
	return nil
}

func (c *commitClock) observe(timestamps ...uint64) {
	for _, ts := range timestamps {
		// The greatest timestamp asks for the newest version, whenever that was.
		for ts != math.MaxUint64 {
			if newest := c.newest.Load(); ts <= newest || c.newest.CompareAndSwap(newest, ts) {
				break
			}
		}
	}
}

// hear takes the timestamps of a request before the store sees it.
func (c *commitClock) hear(request interface{}) {
	switch r := request.(type) {
	case *kvrpcpb.GetRequest:
		c.observe(r.Version)
	case *kvrpcpb.BatchGetRequest:
		c.observe(r.Version)
	case *kvrpcpb.ScanRequest:
		c.observe(r.Version)
	case *kvrpcpb.ScanLockRequest:
		c.observe(r.MaxVersion)
	case *kvrpcpb.PrewriteRequest:
		c.observe(r.StartVersion, r.ForUpdateTs)
	case *kvrpcpb.PessimisticLockRequest:
		c.observe(r.StartVersion, r.ForUpdateTs)
	case *kvrpcpb.CheckTxnStatusRequest:
		c.observe(r.LockTs, r.CallerStartTs, r.CurrentTs)
	case *kvrpcpb.CheckSecondaryLocksRequest:
		c.observe(r.StartVersion)
	}
}

// hearBatched takes the one field that each kind of command wraps.
func (c *commitClock) hearBatched(request *tikvpb.BatchCommandsRequest_Request) {
	if request.Cmd != nil {
		c.hear(reflect.ValueOf(request.Cmd).Elem().Field(0).Interface())
	}
}

func (c *commitClock) unary(ctx context.Context, req interface{}, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (interface{}, error) {
	c.hear(req)
	return handler(ctx, req)
}
