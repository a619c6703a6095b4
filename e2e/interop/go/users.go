// A user of few rights, and nobody.
package main

import (
	"context"
	"fmt"
	"os"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"go.uber.org/zap"
)

func checkUsers() {
	check("users", func(ctx context.Context) error {
		client, err := logIn(ctx, os.Getenv("PASSWORD"))
		if err != nil {
			return err
		}
		defer client.Close()
		if _, err := client.Put(ctx, prefix+"users", "mine"); err != nil {
			return err
		}
		if err := holds(ctx, client, prefix+"users", "mine"); err != nil {
			return err
		}
		_, err = client.Put(ctx, "/elsewhere", "")
		if err := refused(err, rpctypes.ErrPermissionDenied); err != nil {
			return err
		}
		_, err = client.Get(ctx, prefix, clientv3.WithFromKey())
		if err := refused(err, rpctypes.ErrPermissionDenied); err != nil {
			return err
		}
		if seen := <-client.Watch(ctx, "/elsewhere"); !seen.Canceled {
			return fmt.Errorf("watches elsewhere: %v", seen)
		}
		session, err := concurrency.NewSession(client)
		if err != nil {
			return err
		}
		defer session.Close()
		mutex := concurrency.NewMutex(session, prefix+"users-lock")
		if err := mutex.Lock(ctx); err != nil {
			return err
		}
		if err := mutex.Unlock(ctx); err != nil {
			return err
		}
		_, err = logIn(ctx, "another")
		if err := refused(err, rpctypes.ErrAuthFailed); err != nil {
			return err
		}
		nobody := connect(os.Getenv("USERS_ENDPOINT"), nil, nil)
		defer nobody.Close()
		_, err = nobody.Get(ctx, prefix)
		return refused(err, rpctypes.ErrUserEmpty)
	})
}

// The client has an error of its own for each of etcd's, by code and text.
func refused(err, wanted error) error {
	if found := rpctypes.Error(err); found != wanted {
		return fmt.Errorf("%v, and not %v", found, wanted)
	}
	return nil
}

func logIn(ctx context.Context, password string) (*clientv3.Client, error) {
	return clientv3.New(clientv3.Config{
		Context: ctx, Endpoints: []string{os.Getenv("USERS_ENDPOINT")}, Logger: zap.NewNop(), DialTimeout: waitMax,
		Username: os.Getenv("USER_NAME"), Password: password,
	})
}
