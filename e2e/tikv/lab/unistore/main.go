// unistore-lab runs one store of the TiKV gRPC protocol (package
// github.com/ngaut/unistore, with its raftstore) against a PD, bound to the
// exact address that it advertises. The module's own unistore-server binds
// every interface; this one does not.
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

	"github.com/ngaut/unistore/config"
	"github.com/ngaut/unistore/pd"
	"github.com/ngaut/unistore/server"
	"github.com/pingcap/kvproto/pkg/deadlock"
	"github.com/pingcap/kvproto/pkg/tikvpb"
	plog "github.com/pingcap/log"
	"github.com/zhangjinpeng1987/raft"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"
)

type raftLog struct{ *zap.SugaredLogger }

func (l raftLog) Warning(v ...interface{})            { l.Warn(v...) }
func (l raftLog) Warningf(f string, v ...interface{}) { l.Warnf(f, v...) }

func main() {
	conf := config.DefaultConf
	flag.StringVar(&conf.Server.PDAddr, "pd", "127.0.0.1:2379", "PD client addresses, comma separated")
	flag.StringVar(&conf.Server.StoreAddr, "addr", "127.0.0.1:20160", "address to bind and to advertise to PD")
	flag.StringVar(&conf.Engine.DBPath, "data-dir", "unistore-data", "data directory")
	flag.StringVar(&conf.Server.LogLevel, "log-level", "warn", "log level")
	flag.StringVar(&conf.Server.LogfilePath, "log-file", "", "log file")
	flag.BoolVar(&conf.Server.Raft, "raft", true, "replicate regions with raft")
	flag.BoolVar(&conf.Engine.SyncWrite, "sync", true, "fsync the write-ahead log")
	flag.Int64Var(&conf.Coprocessor.RegionMaxKeys, "region-max-keys", 1440000, "split a region past this many keys")
	flag.Int64Var(&conf.Coprocessor.RegionSplitKeys, "region-split-keys", 960000, "keys a split-off region takes")
	flag.StringVar(&conf.RaftStore.RaftBaseTickInterval, "raft-tick", "100ms", "raft tick")
	flag.StringVar(&conf.RaftStore.RaftStoreMaxLeaderLease, "raft-lease", "900ms", "leader lease, below election ticks x tick")
	flag.StringVar(&conf.RaftStore.PdHeartbeatTickInterval, "pd-heartbeat", "1s", "region heartbeat period to PD")
	flag.Parse()

	zl, props, err := plog.InitLogger(&plog.Config{Level: conf.Server.LogLevel, File: plog.FileLogConfig{Filename: conf.Server.LogfilePath}})
	if err != nil {
		log.Fatal(err)
	}
	plog.ReplaceGlobals(zl, props)
	raft.SetLogger(raftLog{zl.Sugar()})
	if err := os.MkdirAll(conf.Engine.DBPath, 0o755); err != nil {
		log.Fatal(err)
	}

	pdc, err := pd.NewClient(strings.Split(conf.Server.PDAddr, ","), "")
	if err != nil {
		log.Fatal("pd: ", err)
	}
	// Listen first: the other stores dial this address as soon as PD knows it.
	lis, err := net.Listen("tcp", conf.Server.StoreAddr)
	if err != nil {
		log.Fatal(err)
	}
	svr, err := server.New(&conf, pdc)
	if err != nil {
		log.Fatal("store: ", err)
	}
	g := grpc.NewServer(
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 2 * time.Second, PermitWithoutStream: true}),
		grpc.InitialWindowSize(1<<30), grpc.InitialConnWindowSize(1<<30),
		grpc.MaxRecvMsgSize(16<<20),
	)
	tikvpb.RegisterTikvServer(g, svr)
	deadlock.RegisterDeadlockServer(g, svr)

	sig := make(chan os.Signal, 1)
	signal.Notify(sig, syscall.SIGINT, syscall.SIGTERM)
	go func() { <-sig; g.Stop() }()
	if err := g.Serve(lis); err != nil {
		log.Print(err)
	}
	svr.Stop()
}
