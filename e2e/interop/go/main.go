// The checks of e2e/interop with etcd's own client on grpc-go: see ../README.md.
package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

const (
	prefix     = "/interop/go/"
	waitMax    = 20 * time.Second
	largeBytes = 1_400_000
	largeKeys  = 22
)

func main() {
	client := connect(os.Getenv("ENDPOINT"), nil, nil)
	check("kv", func(ctx context.Context) error {
		key, value := prefix+"\x00\xff", "value\x00\xfe"
		put, err := client.Put(ctx, key, value)
		if err != nil {
			return err
		}
		got, err := client.Get(ctx, key)
		if err != nil {
			return err
		}
		if len(got.Kvs) != 1 || string(got.Kvs[0].Value) != value || got.Kvs[0].ModRevision != put.Header.Revision {
			return fmt.Errorf("got %v", got)
		}
		return nil
	})
	check("range", func(ctx context.Context) error {
		for i := range 5 {
			if _, err := client.Put(ctx, fmt.Sprintf("%srange/%d", prefix, i), "v"); err != nil {
				return err
			}
		}
		got, err := client.Get(ctx, prefix+"range/", clientv3.WithPrefix(), clientv3.WithLimit(2),
			clientv3.WithSort(clientv3.SortByKey, clientv3.SortDescend))
		if err != nil {
			return err
		}
		if got.Count != 5 || !got.More || len(got.Kvs) != 2 || string(got.Kvs[0].Key) != prefix+"range/4" {
			return fmt.Errorf("got %v", got)
		}
		return nil
	})
	check("txn", func(ctx context.Context) error {
		key := prefix + "txn"
		for _, wanted := range []bool{true, false} {
			got, err := client.Txn(ctx).If(clientv3.Compare(clientv3.CreateRevision(key), "=", 0)).
				Then(clientv3.OpPut(key, "made")).Else(clientv3.OpGet(key)).Commit()
			if err != nil {
				return err
			}
			if got.Succeeded != wanted || (!wanted && string(got.Responses[0].GetResponseRange().Kvs[0].Value) != "made") {
				return fmt.Errorf("got %v", got)
			}
		}
		return nil
	})
	check("delete", func(ctx context.Context) error {
		got, err := client.Delete(ctx, prefix+"range/", clientv3.WithPrefix(), clientv3.WithPrevKV())
		if err != nil {
			return err
		}
		if got.Deleted != 5 || len(got.PrevKvs) != 5 {
			return fmt.Errorf("got %v", got)
		}
		return nil
	})
	check("watch", func(ctx context.Context) error {
		watching, cancel := context.WithCancel(ctx)
		defer cancel()
		watch := client.Watch(watching, prefix+"watch/", clientv3.WithPrefix(), clientv3.WithPrevKV(), clientv3.WithCreatedNotify())
		if first := <-watch; !first.Created {
			return fmt.Errorf("not created: %v", first)
		}
		if _, err := client.Put(ctx, prefix+"watch/a", "1"); err != nil {
			return err
		}
		if _, err := client.Delete(ctx, prefix+"watch/a"); err != nil {
			return err
		}
		var events []*clientv3.Event
		for len(events) < 2 {
			got, more := <-watch
			if !more || got.Err() != nil {
				return fmt.Errorf("ended: %v", got.Err())
			}
			events = append(events, got.Events...)
		}
		if !events[0].IsCreate() || events[1].Type != clientv3.EventTypeDelete || string(events[1].PrevKv.Value) != "1" {
			return fmt.Errorf("got %v", events)
		}
		cancel()
		if got, more := <-watch; more && got.Err() == nil {
			return fmt.Errorf("goes on after its end: %v", got)
		}
		return nil
	})
	check("lease", func(ctx context.Context) error {
		lease, err := client.Grant(ctx, 60)
		if err != nil {
			return err
		}
		if _, err = client.Put(ctx, prefix+"leased", "v", clientv3.WithLease(lease.ID)); err != nil {
			return err
		}
		for range 3 {
			kept, err := client.KeepAliveOnce(ctx, lease.ID)
			if err != nil {
				return err
			}
			if kept.TTL != 60 {
				return fmt.Errorf("kept for %d", kept.TTL)
			}
		}
		if _, err = client.Revoke(ctx, lease.ID); err != nil {
			return err
		}
		got, err := client.Get(ctx, prefix+"leased")
		if err != nil {
			return err
		}
		if len(got.Kvs) != 0 {
			return errors.New("the key outlives its lease")
		}
		return nil
	})
	checkLocks(client)
	checkUsers()
	checkHelpers(client)
	checkReflection(client)
	check("deadline", func(ctx context.Context) error {
		short, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
		defer cancel()
		stream, err := pb.NewWatchClient(client.ActiveConnection()).Watch(short)
		if err != nil {
			return err
		}
		_, err = stream.Recv()
		return expectCode(err, codes.DeadlineExceeded)
	})
	check("cancel", func(ctx context.Context) error {
		short, cancel := context.WithCancel(ctx)
		stream, err := pb.NewWatchClient(client.ActiveConnection()).Watch(short)
		if err != nil {
			return err
		}
		cancel()
		_, err = stream.Recv()
		return expectCode(err, codes.Canceled)
	})
	check("large-request", func(ctx context.Context) error {
		large := string(bytes.Repeat([]byte("large"), largeBytes/5))
		for i := range largeKeys {
			if _, err := client.Put(ctx, fmt.Sprintf("%slarge/%02d", prefix, i), large); err != nil {
				return err
			}
		}
		return nil
	})
	check("large-answer", func(ctx context.Context) error {
		got, err := client.Get(ctx, prefix+"large/", clientv3.WithPrefix())
		if err != nil {
			return err
		}
		sum := 0
		for _, kv := range got.Kvs {
			sum += len(kv.Value)
		}
		if sum != largeBytes*largeKeys {
			return fmt.Errorf("%d bytes", sum)
		}
		_, err = client.Delete(ctx, prefix+"large/", clientv3.WithPrefix())
		return err
	})
	check("too-large", func(ctx context.Context) error {
		kv := pb.NewKVClient(client.ActiveConnection())
		_, err := kv.Put(ctx, &pb.PutRequest{Key: []byte(prefix), Value: make([]byte, 1_600_000)})
		if err := expect(err, codes.InvalidArgument, "etcdserver: request is too large"); err != nil {
			return err
		}
		request := &pb.PutRequest{Key: []byte(prefix), Value: make([]byte, 3_000_000)}
		_, err = kv.Put(ctx, request)
		return expect(err, codes.ResourceExhausted,
			fmt.Sprintf("grpc: received message larger than max (%d vs. 2097152)", proto.Size(request)))
	})
	check("errors", func(ctx context.Context) error {
		connection := client.ActiveConnection()
		_, err := pb.NewKVClient(connection).Range(ctx, &pb.RangeRequest{})
		if err := expect(err, codes.InvalidArgument, "etcdserver: key is not provided"); err != nil {
			return err
		}
		_, err = pb.NewKVClient(connection).Range(ctx, &pb.RangeRequest{Key: []byte("a"), Revision: 1 << 40})
		if err := expect(err, codes.OutOfRange, "etcdserver: mvcc: required revision is a future revision"); err != nil {
			return err
		}
		_, err = pb.NewLeaseClient(connection).LeaseRevoke(ctx, &pb.LeaseRevokeRequest{ID: 4711})
		if err := expect(err, codes.NotFound, "etcdserver: requested lease not found"); err != nil {
			return err
		}
		err = connection.Invoke(ctx, "/etcdserverpb.KV/Nothing", &pb.RangeRequest{}, &pb.RangeResponse{})
		return expect(err, codes.Unimplemented, "unknown method Nothing for service etcdserverpb.KV")
	})
	check("metadata", func(ctx context.Context) error {
		with := metadata.AppendToOutgoingContext(ctx, "hasleader", "true", "x-bin", "\x00\xff\x01", "x-text", "a b")
		_, err := client.Get(with, prefix)
		return err
	})
	check("gzip", func(ctx context.Context) error {
		zipped := connect(os.Getenv("ENDPOINT"), nil, []grpc.DialOption{
			grpc.WithDefaultCallOptions(grpc.UseCompressor(gzip.Name)),
		})
		defer zipped.Close()
		value := string(bytes.Repeat([]byte("compressible "), 15_000))
		watch := zipped.Watch(ctx, prefix+"gzip")
		if _, err := zipped.Put(ctx, prefix+"gzip", value); err != nil {
			return err
		}
		got, err := zipped.Get(ctx, prefix+"gzip")
		if err != nil {
			return err
		}
		if string(got.Kvs[0].Value) != value {
			return errors.New("another value")
		}
		if event := <-watch; string(event.Events[0].Kv.Value) != value {
			return errors.New("another event")
		}
		return nil
	})
	check("parallel", func(ctx context.Context) error {
		var group sync.WaitGroup
		failures := make(chan error, 1_000)
		for i := range 1_000 {
			group.Go(func() {
				key := fmt.Sprintf("%sparallel/%d", prefix, i)
				if _, err := client.Put(ctx, key, key); err != nil {
					failures <- err
				} else if got, err := client.Get(ctx, key); err != nil {
					failures <- err
				} else if len(got.Kvs) != 1 || string(got.Kvs[0].Value) != key {
					failures <- fmt.Errorf("got %v", got)
				}
			})
		}
		group.Wait()
		close(failures)
		return <-failures
	})
	check("tls", func(ctx context.Context) error {
		pem, err := os.ReadFile(os.Getenv("CA_FILE"))
		if err != nil {
			return err
		}
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(pem)
		secure := connect("https://"+os.Getenv("TLS_ENDPOINT"), &tls.Config{RootCAs: roots}, nil)
		defer secure.Close()
		_, err = secure.Get(ctx, prefix)
		return err
	})
}

func connect(endpoint string, config *tls.Config, options []grpc.DialOption) *clientv3.Client {
	client, err := clientv3.New(clientv3.Config{
		Endpoints: []string{endpoint}, Logger: zap.NewNop(), DialTimeout: waitMax, TLS: config, DialOptions: options,
		MaxCallRecvMsgSize: 64 << 20, MaxCallSendMsgSize: 64 << 20,
	})
	if err != nil {
		fmt.Println("FAILED connect:", err)
		os.Exit(1)
	}
	return client
}

func check(name string, work func(ctx context.Context) error) {
	ctx, cancel := context.WithTimeout(context.Background(), waitMax)
	defer cancel()
	if err := work(ctx); err != nil {
		fmt.Printf("FAILED %s: %v\n", name, err)
	} else {
		fmt.Println("ok", name)
	}
}

// The words are those of whoever is first, client or server.
func expectCode(err error, code codes.Code) error {
	return expect(err, code, status.Convert(err).Message())
}

func expect(err error, code codes.Code, message string) error {
	if found := status.Convert(err); found.Code() != code || found.Message() != message {
		return fmt.Errorf("%v %q, and not %v %q", found.Code(), found.Message(), code, message)
	}
	return nil
}
