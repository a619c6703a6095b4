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
	"path/filepath"
	"runtime/pprof"
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

const cpuProfileTime = 5 * time.Second

// writeProfiles answers SIGUSR1: what the store holds in memory, what it waits for, and where its time goes.
func writeProfiles(dir string) {
	for _, name := range []string{"heap", "goroutine"} {
		f, err := os.Create(filepath.Join(dir, name+".pprof"))
		if err != nil {
			log.Print(err)
			return
		}
		if err := pprof.Lookup(name).WriteTo(f, 0); err != nil {
			log.Print(err)
		}
		f.Close()
	}
	f, err := os.Create(filepath.Join(dir, "cpu.pprof"))
	if err != nil {
		log.Print(err)
		return
	}
	defer f.Close()
	if err := pprof.StartCPUProfile(f); err != nil {
		log.Print(err)
		return
	}
	time.Sleep(cpuProfileTime)
	pprof.StopCPUProfile()
}

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
	flag.Int64Var(&conf.Engine.MaxMemTableSize, "mem-table", 16<<20, "bytes of a memory table; there are up to three, in two engines")
	flag.IntVar(&conf.Engine.NumL0TablesStall, "l0-stall", conf.Engine.NumL0TablesStall, "tables of level 0 at which writers are made to wait for compactions")
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
	clock := newCommitClock(pdc)
	// Listen first: the other stores dial this address as soon as PD knows it.
	lis, err := net.Listen("tcp", conf.Server.StoreAddr)
	if err != nil {
		log.Fatal(err)
	}
	svr, err := server.New(&conf, clock)
	if err != nil {
		log.Fatal("store: ", err)
	}
	g := grpc.NewServer(
		grpc.StreamInterceptor(answerInBatches(svr, conf.Engine.DBPath, clock.hearBatched)),
		grpc.UnaryInterceptor(clock.unary),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 2 * time.Second, PermitWithoutStream: true}),
		grpc.InitialWindowSize(1<<30), grpc.InitialConnWindowSize(1<<30),
		// Stores send each other up to 128 Raft messages of a megabyte at once; what is refused is sent again for ever.
		grpc.MaxRecvMsgSize(1<<30),
	)
	tikvpb.RegisterTikvServer(g, svr)
	deadlock.RegisterDeadlockServer(g, svr)

	dump := make(chan os.Signal, 1)
	signal.Notify(dump, syscall.SIGUSR1)
	go func() {
		for range dump {
			writeProfiles(conf.Engine.DBPath)
		}
	}()
	sig := make(chan os.Signal, 1)
	signal.Notify(sig, syscall.SIGINT, syscall.SIGTERM)
	go func() { <-sig; g.Stop() }()
	if err := g.Serve(lis); err != nil {
		log.Print(err)
	}
	svr.Stop()
}
