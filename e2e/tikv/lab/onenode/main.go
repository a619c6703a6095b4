// tidbstore-lab serves TiDB's in-tree unistore (one node, badger on disk, no
// raft) over the TiKV gRPC protocol against a real PD, on the address it advertises.
package main

import (
	"flag"
	"log"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/pingcap/kvproto/pkg/tikvpb"
	"github.com/pingcap/tidb/pkg/store/mockstore/unistore/config"
	"github.com/pingcap/tidb/pkg/store/mockstore/unistore/pd"
	"github.com/pingcap/tidb/pkg/store/mockstore/unistore/server"
	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"
)

func main() {
	conf := config.DefaultConf
	conf.Server.Raft = false
	flag.StringVar(&conf.Server.PDAddr, "pd", "127.0.0.1:2379", "PD client addresses, comma separated")
	flag.StringVar(&conf.Server.StoreAddr, "addr", "127.0.0.1:20160", "address to bind and to advertise to PD")
	flag.StringVar(&conf.Engine.DBPath, "data-dir", "tidbstore-data", "data directory")
	flag.BoolVar(&conf.Engine.SyncWrite, "sync", true, "fsync the write-ahead log")
	flag.Int64Var(&conf.Server.RegionSize, "region-size", 64<<20, "split a region past this many bytes")
	flag.Parse()
	if err := os.MkdirAll(conf.Engine.DBPath, 0o755); err != nil {
		log.Fatal(err)
	}
	pdc, err := pd.NewClient(strings.Split(conf.Server.PDAddr, ","), "")
	if err != nil {
		log.Fatal("pd: ", err)
	}
	lis, err := net.Listen("tcp", conf.Server.StoreAddr)
	if err != nil {
		log.Fatal(err)
	}
	svr, err := server.New(&conf, pdc)
	if err != nil {
		log.Fatal("store: ", err)
	}
	g := grpc.NewServer(
		grpc.StreamInterceptor(answerInBatches(svr, conf.Engine.DBPath, nil)),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 2 * time.Second, PermitWithoutStream: true}),
		grpc.InitialWindowSize(1<<30), grpc.InitialConnWindowSize(1<<30),
		// Stores send each other up to 128 Raft messages of a megabyte at once; what is refused is sent again for ever.
		grpc.MaxRecvMsgSize(1<<30),
	)
	tikvpb.RegisterTikvServer(g, svr)
	sig := make(chan os.Signal, 1)
	signal.Notify(sig, syscall.SIGINT, syscall.SIGTERM)
	go func() { <-sig; g.Stop() }()
	if err := g.Serve(lis); err != nil {
		log.Print(err)
	}
	svr.Stop()
}
