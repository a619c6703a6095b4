// The packages that etcd's client has for others to build on: each does by several calls what must hold as a whole.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/leasing"
	"go.etcd.io/etcd/client/v3/mirror"
	"go.etcd.io/etcd/client/v3/namespace"
	"go.etcd.io/etcd/client/v3/naming/endpoints"
	"go.etcd.io/etcd/client/v3/naming/resolver"
	"go.etcd.io/etcd/client/v3/ordering"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
)

const mirroredKeys = 1_500 // more than a page of mirror

func checkHelpers(client *clientv3.Client) {
	check("leasing", func(ctx context.Context) error {
		other := connect(os.Getenv("ENDPOINT"), nil, nil)
		defer other.Close()
		// Each owns the keys that it reads, until the other wants to write them.
		first, end, err := leasing.NewKV(client, prefix+"leasing/")
		if err != nil {
			return err
		}
		defer end()
		second, endSecond, err := leasing.NewKV(other, prefix+"leasing/")
		if err != nil {
			return err
		}
		defer endSecond()
		key := prefix + "leased-key"
		for round := range 5 {
			for _, pair := range [][2]clientv3.KV{{first, second}, {second, first}} {
				value := fmt.Sprint(round)
				if _, err := pair[0].Put(ctx, key, value); err != nil {
					return err
				}
				for range 2 { // from the store, then from what it owns
					if err := holds(ctx, pair[1], key, value); err != nil {
						return err
					}
				}
				txn, err := pair[0].Txn(ctx).If(clientv3.Compare(clientv3.Value(key), "=", value)).
					Then(clientv3.OpPut(key, value+"'")).Commit()
				if err != nil || !txn.Succeeded {
					return fmt.Errorf("%v: %v", txn, err)
				}
				if err := holds(ctx, pair[1], key, value+"'"); err != nil {
					return err
				}
			}
		}
		return nil
	})
	check("mirror", func(ctx context.Context) error {
		for at := range mirroredKeys {
			if _, err := client.Put(ctx, fmt.Sprintf("%smirror/%04d", prefix, at), "v"); err != nil {
				return err
			}
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		syncer := mirror.NewSyncer(client, prefix+"mirror/", 0)
		base, failures := syncer.SyncBase(ctx)
		if _, err := client.Delete(ctx, prefix+"mirror/0000"); err != nil {
			return err
		}
		count := 0
		for page := range base {
			count += len(page.Kvs)
		}
		if err := <-failures; err != nil || count != mirroredKeys {
			return fmt.Errorf("%d keys: %v", count, err)
		}
		updates := <-syncer.SyncUpdates(ctx)
		if len(updates.Events) != 1 || updates.Events[0].Type != clientv3.EventTypeDelete {
			return fmt.Errorf("updates: %v", updates)
		}
		return nil
	})
	check("namespace", func(ctx context.Context) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		kv := namespace.NewKV(client.KV, prefix+"namespace/")
		watch := namespace.NewWatcher(client.Watcher, prefix+"namespace/").Watch(ctx, "", clientv3.WithPrefix(), clientv3.WithCreatedNotify())
		if created := <-watch; !created.Created {
			return fmt.Errorf("not created: %v", created)
		}
		lease, err := namespace.NewLease(client.Lease, prefix+"namespace/").Grant(ctx, 60)
		if err != nil {
			return err
		}
		txn, err := kv.Txn(ctx).If(clientv3.Compare(clientv3.CreateRevision("a"), "=", 0)).
			Then(clientv3.OpPut("a", "v", clientv3.WithLease(lease.ID)), clientv3.OpGet("", clientv3.WithPrefix())).Commit()
		if err != nil {
			return err
		}
		if found := txn.Responses[1].GetResponseRange(); len(found.Kvs) != 1 || string(found.Kvs[0].Key) != "a" {
			return fmt.Errorf("in the namespace: %v", found)
		}
		if event := <-watch; len(event.Events) != 1 || string(event.Events[0].Kv.Key) != "a" {
			return fmt.Errorf("seen: %v", event)
		}
		left, err := namespace.NewLease(client.Lease, prefix+"namespace/").TimeToLive(ctx, lease.ID, clientv3.WithAttachedKeys())
		if err != nil || len(left.Keys) != 1 || string(left.Keys[0]) != "a" {
			return fmt.Errorf("keys of the lease: %v: %v", left, err)
		}
		return holds(ctx, client, prefix+"namespace/a", "v")
	})
	check("ordering", func(ctx context.Context) error {
		violated := errors.New("an older revision than before")
		kv := ordering.NewKV(client.KV, func(clientv3.Op, clientv3.OpResponse, int64) error { return violated })
		for range 100 {
			put, err := kv.Put(ctx, prefix+"ordering", "v")
			if err != nil {
				return err
			}
			got, err := kv.Get(ctx, prefix+"ordering", clientv3.WithSerializable())
			if err != nil {
				return err
			}
			if got.Header.Revision < put.Header.Revision {
				return violated
			}
		}
		return nil
	})
	check("naming", func(ctx context.Context) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		target := prefix + "naming"
		manager, err := endpoints.NewManager(client, target)
		if err != nil {
			return err
		}
		watch, err := manager.NewWatchChannel(ctx)
		if err != nil {
			return err
		}
		// A name for the store itself, which gRPC then finds by it.
		address := endpoints.Endpoint{Addr: os.Getenv("ENDPOINT")}
		if err := manager.AddEndpoint(ctx, target+"/store", address); err != nil {
			return err
		}
		if updates := <-watch; len(updates) != 1 || updates[0].Endpoint.Addr != address.Addr {
			return fmt.Errorf("seen: %v", updates)
		}
		builder, err := resolver.NewBuilder(client)
		if err != nil {
			return err
		}
		connection, err := grpc.NewClient("etcd:///"+target, grpc.WithResolvers(builder),
			grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			return err
		}
		defer connection.Close()
		health, err := grpc_health_v1.NewHealthClient(connection).Check(ctx, &grpc_health_v1.HealthCheckRequest{})
		if err != nil || health.Status != grpc_health_v1.HealthCheckResponse_SERVING {
			return fmt.Errorf("%v: %v", health, err)
		}
		if err := manager.DeleteEndpoint(ctx, target+"/store"); err != nil {
			return err
		}
		if updates := <-watch; len(updates) != 1 || updates[0].Op != endpoints.Delete {
			return fmt.Errorf("seen: %v", updates)
		}
		return nil
	})
}

func holds(ctx context.Context, kv clientv3.KV, key, value string) error {
	got, err := kv.Get(ctx, key)
	if err != nil {
		return err
	}
	if len(got.Kvs) != 1 || string(got.Kvs[0].Value) != value {
		return fmt.Errorf("%s: %v, and not %q", key, got.Kvs, value)
	}
	return nil
}
