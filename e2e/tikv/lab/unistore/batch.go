package main

import (
	"context"
	"sync"

	"github.com/pingcap/kvproto/pkg/kvrpcpb"
	"github.com/pingcap/kvproto/pkg/tikvpb"
	"google.golang.org/grpc"
)

type secondaryChecker interface {
	KvCheckSecondaryLocks(context.Context, *kvrpcpb.CheckSecondaryLocksRequest) (*kvrpcpb.CheckSecondaryLocksResponse, error)
}

// answerSecondaryChecks takes CheckSecondaryLocks out of batches and answers it here: the store's own BatchCommands has
// forgotten it and dies of it, and client-go asks in batches only.
func answerSecondaryChecks(svr secondaryChecker) grpc.StreamServerInterceptor {
	return func(srv interface{}, ss grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
		if info.FullMethod != "/tikvpb.Tikv/BatchCommands" {
			return handler(srv, ss)
		}
		return handler(srv, &batchStream{ServerStream: ss, svr: svr})
	}
}

type batchStream struct {
	grpc.ServerStream
	svr     secondaryChecker
	sending sync.Mutex
}

func (s *batchStream) SendMsg(m interface{}) error {
	s.sending.Lock()
	defer s.sending.Unlock()
	return s.ServerStream.SendMsg(m)
}

func (s *batchStream) RecvMsg(m interface{}) error {
	if err := s.ServerStream.RecvMsg(m); err != nil {
		return err
	}
	batch, ok := m.(*tikvpb.BatchCommandsRequest)
	if !ok {
		return nil
	}
	left, ids := batch.Requests[:0], batch.RequestIds[:0]
	for i, request := range batch.Requests {
		check, ok := request.Cmd.(*tikvpb.BatchCommandsRequest_Request_CheckSecondaryLocks)
		if !ok {
			left, ids = append(left, request), append(ids, batch.RequestIds[i])
			continue
		}
		go s.answer(batch.RequestIds[i], check.CheckSecondaryLocks)
	}
	batch.Requests, batch.RequestIds = left, ids
	return nil
}

func (s *batchStream) answer(id uint64, request *kvrpcpb.CheckSecondaryLocksRequest) {
	response, err := s.svr.KvCheckSecondaryLocks(s.Context(), request)
	if err != nil {
		return
	}
	_ = s.SendMsg(&tikvpb.BatchCommandsResponse{
		RequestIds: []uint64{id},
		Responses: []*tikvpb.BatchCommandsResponse_Response{{
			Cmd: &tikvpb.BatchCommandsResponse_Response_CheckSecondaryLocks{CheckSecondaryLocks: response},
		}},
	})
}
