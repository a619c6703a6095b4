package main

import (
	"context"
	"os"
	"path/filepath"
	"sync"

	"github.com/pingcap/kvproto/pkg/errorpb"
	"github.com/pingcap/kvproto/pkg/kvrpcpb"
	"github.com/pingcap/kvproto/pkg/tikvpb"
	"google.golang.org/grpc"
)

type secondaryChecker interface {
	KvCheckSecondaryLocks(context.Context, *kvrpcpb.CheckSecondaryLocksRequest) (*kvrpcpb.CheckSecondaryLocksResponse, error)
}

// answerInBatches takes two things out of batches and answers them here. CheckSecondaryLocks: the store's own BatchCommands
// has forgotten it and dies of it, and client-go asks in batches only. And prewrites while the disk counts as full, which is
// as long as there is a file of the name `disk-full` in the data directory: as TiKV does it, which keeps room in reserve and
// refuses to take more before a write can fail. `hear`, if given, hears each request of a batch before the store.
func answerInBatches(svr secondaryChecker, dataDir string, hear func(*tikvpb.BatchCommandsRequest_Request)) grpc.StreamServerInterceptor {
	mark := filepath.Join(dataDir, "disk-full")
	return func(srv interface{}, ss grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
		if info.FullMethod != "/tikvpb.Tikv/BatchCommands" {
			return handler(srv, ss)
		}
		return handler(srv, &batchStream{ServerStream: ss, svr: svr, fullMark: mark, hear: hear})
	}
}

type batchStream struct {
	grpc.ServerStream
	svr      secondaryChecker
	fullMark string
	hear     func(*tikvpb.BatchCommandsRequest_Request)
	sending  sync.Mutex
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
		id := batch.RequestIds[i]
		if s.hear != nil {
			s.hear(request)
		}
		switch cmd := request.Cmd.(type) {
		case *tikvpb.BatchCommandsRequest_Request_CheckSecondaryLocks:
			go s.answerCheck(id, cmd.CheckSecondaryLocks)
			continue
		case *tikvpb.BatchCommandsRequest_Request_Prewrite:
			if _, err := os.Stat(s.fullMark); err == nil {
				go s.send(id, &tikvpb.BatchCommandsResponse_Response{
					Cmd: &tikvpb.BatchCommandsResponse_Response_Prewrite{
						Prewrite: &kvrpcpb.PrewriteResponse{RegionError: diskFull()},
					},
				})
				continue
			}
		}
		left, ids = append(left, request), append(ids, id)
	}
	batch.Requests, batch.RequestIds = left, ids
	return nil
}

// diskFull is errorpb's disk_full = 15 with its reason = 2, in bytes: the store's messages are older than the error.
func diskFull() *errorpb.Error {
	reason := "disk full"
	payload := append([]byte{2<<3 | 2, byte(len(reason))}, reason...)
	return &errorpb.Error{
		Message:          reason,
		XXX_unrecognized: append([]byte{15<<3 | 2, byte(len(payload))}, payload...),
	}
}

func (s *batchStream) answerCheck(id uint64, request *kvrpcpb.CheckSecondaryLocksRequest) {
	response, err := s.svr.KvCheckSecondaryLocks(s.Context(), request)
	if err != nil {
		return
	}
	s.send(id, &tikvpb.BatchCommandsResponse_Response{
		Cmd: &tikvpb.BatchCommandsResponse_Response_CheckSecondaryLocks{CheckSecondaryLocks: response},
	})
}

func (s *batchStream) send(id uint64, response *tikvpb.BatchCommandsResponse_Response) {
	_ = s.SendMsg(&tikvpb.BatchCommandsResponse{
		RequestIds: []uint64{id},
		Responses:  []*tikvpb.BatchCommandsResponse_Response{response},
	})
}
