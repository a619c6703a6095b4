// The services Lock and Election beside the recipes of etcd's package concurrency, on the same keys. Their messages are encoded by
// hand: etcd's module for them is that of its server.
package main

import (
	"context"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/encoding/protowire"
)

func checkLocks(client *clientv3.Client) {
	check("lock", func(ctx context.Context) error {
		session, err := concurrency.NewSession(client)
		if err != nil {
			return err
		}
		defer session.Close()
		lease, err := client.Grant(ctx, 60)
		if err != nil {
			return err
		}
		name := prefix + "lock"
		mutex := concurrency.NewMutex(session, name)
		if err := mutex.Lock(ctx); err != nil {
			return err
		}
		locked := inBackground(func() ([]byte, error) {
			return invoke(ctx, client, "/v3lockpb.Lock/Lock", fields(text(name), number(lease.ID)))
		})
		key := fmt.Sprintf("%s/%x", name, lease.ID)
		if err := untilThere(ctx, client, key); err != nil {
			return err
		}
		if err := mutex.Unlock(ctx); err != nil {
			return err
		}
		answer := <-locked
		if answer.err != nil || string(field(answer.message, 2)) != key {
			return fmt.Errorf("locked %q: %v", field(answer.message, 2), answer.err)
		}
		again := inBackground(func() ([]byte, error) { return nil, mutex.Lock(ctx) })
		if err := untilThere(ctx, client, fmt.Sprintf("%s/%x", name, session.Lease())); err != nil {
			return err
		}
		if _, err := invoke(ctx, client, "/v3lockpb.Lock/Unlock", fields(text(key))); err != nil {
			return err
		}
		if answer := <-again; answer.err != nil {
			return answer.err
		}
		_, err = invoke(ctx, client, "/v3lockpb.Lock/Lock", fields(text(name), number(4711)))
		return expect(err, codes.Unknown, "etcdserver: requested lease not found")
	})
	check("election", func(ctx context.Context) error {
		session, err := concurrency.NewSession(client)
		if err != nil {
			return err
		}
		defer session.Close()
		lease, err := client.Grant(ctx, 60)
		if err != nil {
			return err
		}
		name := prefix + "election"
		election := concurrency.NewElection(session, name)
		if err := election.Campaign(ctx, "first"); err != nil {
			return err
		}
		answer, err := invoke(ctx, client, "/v3electionpb.Election/Leader", fields(text(name)))
		if err != nil || string(field(field(answer, 2), 5)) != "first" {
			return fmt.Errorf("the leader says %q: %v", field(field(answer, 2), 5), err)
		}
		observed := election.Observe(ctx)
		next := inBackground(func() ([]byte, error) {
			return invoke(ctx, client, "/v3electionpb.Election/Campaign", fields(text(name), number(lease.ID), text("second")))
		})
		if err := untilThere(ctx, client, fmt.Sprintf("%s/%x", name, lease.ID)); err != nil {
			return err
		}
		if err := election.Resign(ctx); err != nil {
			return err
		}
		if answer := <-next; answer.err != nil {
			return answer.err
		}
		for seen := range observed {
			if string(seen.Kvs[0].Value) == "second" {
				return nil
			}
		}
		return ctx.Err()
	})
}

type outcome struct {
	message []byte
	err     error
}

func inBackground(work func() ([]byte, error)) <-chan outcome {
	done := make(chan outcome, 1)
	go func() {
		message, err := work()
		done <- outcome{message, err}
	}()
	return done
}

func untilThere(ctx context.Context, client *clientv3.Client, key string) error {
	for {
		got, err := client.Get(ctx, key)
		if err != nil || len(got.Kvs) > 0 {
			return err
		}
	}
}

func invoke(ctx context.Context, client *clientv3.Client, method string, request []byte) ([]byte, error) {
	var answer []byte
	err := client.ActiveConnection().Invoke(ctx, method, &request, &answer, grpc.ForceCodec(plain{}))
	return answer, err
}

// plain takes messages that are encoded already.
type plain struct{}

func (plain) Marshal(message any) ([]byte, error) { return *message.(*[]byte), nil }

func (plain) Unmarshal(data []byte, message any) error {
	*message.(*[]byte) = append([]byte(nil), data...)
	return nil
}

func (plain) Name() string { return "proto" }

type value func(message []byte, number protowire.Number) []byte

func text(content string) value {
	return func(message []byte, number protowire.Number) []byte {
		return protowire.AppendString(protowire.AppendTag(message, number, protowire.BytesType), content)
	}
}

func number[ID ~int64 | ~int](content ID) value {
	return func(message []byte, number protowire.Number) []byte {
		return protowire.AppendVarint(protowire.AppendTag(message, number, protowire.VarintType), uint64(content))
	}
}

// fields is a message whose fields have the numbers from 1 on.
func fields(values ...value) []byte {
	var message []byte
	for at, add := range values {
		message = add(message, protowire.Number(at+1))
	}
	return message
}

// field is the content of a field of bytes, or nothing.
func field(message []byte, wanted protowire.Number) []byte {
	for len(message) > 0 {
		number, kind, tagBytes := protowire.ConsumeTag(message)
		if tagBytes < 0 {
			return nil
		}
		message = message[tagBytes:]
		size := protowire.ConsumeFieldValue(number, kind, message)
		if size < 0 {
			return nil
		}
		if number == wanted && kind == protowire.BytesType {
			content, _ := protowire.ConsumeBytes(message)
			return content
		}
		message = message[size:]
	}
	return nil
}
