// The descriptors that the server gives, built and compared with those of etcd's own module.
package main

import (
	"context"
	"fmt"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	reflection "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

func checkReflection(client *clientv3.Client) {
	check("reflection", func(ctx context.Context) error {
		stream, err := reflection.NewServerReflectionClient(client.ActiveConnection()).ServerReflectionInfo(ctx)
		if err != nil {
			return err
		}
		ask := func(request *reflection.ServerReflectionRequest) (*reflection.ServerReflectionResponse, error) {
			if err := stream.Send(request); err != nil {
				return nil, err
			}
			return stream.Recv()
		}
		listed, err := ask(&reflection.ServerReflectionRequest{
			MessageRequest: &reflection.ServerReflectionRequest_ListServices{},
		})
		if err != nil {
			return err
		}
		set := &descriptorpb.FileDescriptorSet{}
		known := map[string]bool{}
		for _, service := range listed.GetListServicesResponse().GetService() {
			answer, err := ask(&reflection.ServerReflectionRequest{
				MessageRequest: &reflection.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: service.Name},
			})
			if err != nil {
				return err
			}
			for _, encoded := range answer.GetFileDescriptorResponse().GetFileDescriptorProto() {
				file := &descriptorpb.FileDescriptorProto{}
				if err := proto.Unmarshal(encoded, file); err != nil {
					return err
				}
				if !known[file.GetName()] {
					set.File = append(set.File, file)
				}
				known[file.GetName()] = true
			}
		}
		files, err := protodesc.NewFiles(set)
		if err != nil {
			return err
		}
		return sameAsEtcd(files)
	})
}

type finder interface {
	FindDescriptorByName(protoreflect.FullName) (protoreflect.Descriptor, error)
}

func sameAsEtcd(files finder) error {
	wanted := pb.File_rpc_proto
	for i := range wanted.Messages().Len() {
		message := wanted.Messages().Get(i)
		found, err := files.FindDescriptorByName(message.FullName())
		if err != nil {
			return err
		}
		if err := sameMessage(found.(protoreflect.MessageDescriptor), message); err != nil {
			return err
		}
	}
	for i := range wanted.Services().Len() {
		service := wanted.Services().Get(i)
		for j := range service.Methods().Len() {
			method := service.Methods().Get(j)
			descriptor, err := files.FindDescriptorByName(method.FullName())
			if err != nil {
				return err
			}
			found := descriptor.(protoreflect.MethodDescriptor)
			if found.Input().FullName() != method.Input().FullName() || found.Output().FullName() != method.Output().FullName() ||
				found.IsStreamingClient() != method.IsStreamingClient() || found.IsStreamingServer() != method.IsStreamingServer() {
				return fmt.Errorf("%v is another method", method.FullName())
			}
		}
	}
	return nil
}

func sameMessage(found, wanted protoreflect.MessageDescriptor) error {
	if found.Fields().Len() != wanted.Fields().Len() {
		return fmt.Errorf("%v has %d fields, not %d", wanted.FullName(), found.Fields().Len(), wanted.Fields().Len())
	}
	for i := range wanted.Fields().Len() {
		want := wanted.Fields().Get(i)
		got := found.Fields().ByNumber(want.Number())
		if got == nil || got.FullName() != want.FullName() || got.Kind() != want.Kind() || got.Cardinality() != want.Cardinality() ||
			got.JSONName() != want.JSONName() || (got.ContainingOneof() == nil) != (want.ContainingOneof() == nil) {
			return fmt.Errorf("%v is another field", want.FullName())
		}
	}
	return nil
}
