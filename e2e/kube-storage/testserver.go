// Package testserver stands in for k8s.io/apiserver/pkg/storage/etcd3/testserver while `run` runs that module's tests:
// the store is a process of its own, a fresh one on fresh data for each test, and the tests' settings reach it as the
// flags of the etcd binary.
package testserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/kubernetes"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest"
	"google.golang.org/grpc"
	storagetesting "k8s.io/apiserver/pkg/storage/testing"
)

const (
	startTimeout = 30 * time.Second
	stopTimeout  = 15 * time.Second
	heldTimeout  = 5 * time.Second
	heldInterval = 50 * time.Millisecond
	// What a failed test shows of the store's output.
	outputTail = 8 << 10
)

// Two tests that pick ports at the same time could pick the same one: a port is free again until the store binds it.
var picking sync.Mutex

// loopbackURL takes a port below the range from which the kernel gives ports to clients. A port of that range could
// belong to any connection, of this test or another, when the store binds it.
func loopbackURL() (url.URL, net.Listener, error) {
	for range 100 {
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 5000+rand.IntN(10000)))
		if err == nil {
			return url.URL{Scheme: "http", Host: listener.Addr().String()}, listener, nil
		}
	}
	return url.URL{}, nil, errors.New("100 ports between 5000 and 15000 are taken")
}

// NewTestConfig returns settings that a test may change before it hands them to RunEtcd.
func NewTestConfig(t testing.TB) *embed.Config {
	t.Helper()
	clientURL, clientPort, err := loopbackURL()
	if err != nil {
		t.Fatalf("no free port: %v", err)
	}
	defer clientPort.Close()
	peerURL, peerPort, err := loopbackURL()
	if err != nil {
		t.Fatalf("no free port: %v", err)
	}
	defer peerPort.Close()

	config := embed.NewConfig()
	config.Dir = t.TempDir()
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{clientURL}, []url.URL{clientURL}
	config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{peerURL}, []url.URL{peerURL}
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	return config
}

func commaSeparated(urls []url.URL) string {
	texts := make([]string, 0, len(urls))
	for _, u := range urls {
		texts = append(texts, u.String())
	}
	return strings.Join(texts, ",")
}

func flags(config *embed.Config) []string {
	list := []string{
		"--name=" + config.Name,
		"--data-dir=" + filepath.Join(config.Dir, "data"),
		"--listen-client-urls=" + commaSeparated(config.ListenClientUrls),
		"--advertise-client-urls=" + commaSeparated(config.AdvertiseClientUrls),
		"--listen-peer-urls=" + commaSeparated(config.ListenPeerUrls),
		"--initial-advertise-peer-urls=" + commaSeparated(config.AdvertisePeerUrls),
		"--initial-cluster=" + config.InitialCluster,
		fmt.Sprintf("--max-request-bytes=%d", config.MaxRequestBytes),
		fmt.Sprintf("--max-txn-ops=%d", config.MaxTxnOps),
		"--watch-progress-notify-interval=" + config.WatchProgressNotifyInterval.String(),
		"--log-level=warn",
	}
	tls := config.ClientTLSInfo
	if tls.CertFile != "" {
		list = append(list, "--cert-file="+tls.CertFile, "--key-file="+tls.KeyFile)
	}
	if tls.TrustedCAFile != "" {
		list = append(list, "--client-cert-auth", "--trusted-ca-file="+tls.TrustedCAFile)
	}
	return list
}

// startProcess starts the store; it ends with the test, and a failed test shows the end of what the store has said.
func startProcess(t testing.TB, config *embed.Config) {
	t.Helper()
	launcher := os.Getenv("STORE_LAUNCHER")
	if launcher == "" {
		t.Fatal("STORE_LAUNCHER is not set: the executable that starts the store")
	}
	output, err := os.Create(filepath.Join(config.Dir, "store.log"))
	if err != nil {
		t.Fatal(err)
	}
	process := exec.Command(launcher, flags(config)...)
	process.Stdout, process.Stderr = output, output
	if err := process.Start(); err != nil {
		t.Fatalf("the store did not start: %v", err)
	}
	exited := make(chan error, 1)
	go func() { exited <- process.Wait() }()
	t.Cleanup(func() {
		defer output.Close()
		if config.ClientTLSInfo.Empty() && !t.Failed() {
			nothingHeld(t, commaSeparated(config.ListenClientUrls)+"/metrics")
		}
		process.Process.Signal(syscall.SIGTERM)
		select {
		case <-exited:
		case <-time.After(stopTimeout):
			process.Process.Kill()
			<-exited
			t.Errorf("the store was still there %v after SIGTERM", stopTimeout)
		}
		if t.Failed() {
			text, _ := os.ReadFile(output.Name())
			t.Logf("the store's output:\n%s", text[max(0, len(text)-outputTail):])
		}
	})
}

// What is at 0 when no call is under way: pins of versions, and memory of answers and of the log's queue.
var heldPattern = regexp.MustCompile(`(?m)^(engram_read_pins|engram_budget_used\{resource="(?:answer_bytes|log_queue_bytes)"\}) (.*)$`)

// nothingHeld: the calls of the test have ended, so the store may hold nothing for them. A call ends a moment after its client has
// the answer, so this looks again for a while. A store without these metrics passes.
func nothingHeld(t testing.TB, metrics string) {
	t.Helper()
	for end := time.Now().Add(heldTimeout); ; time.Sleep(heldInterval) {
		response, err := http.Get(metrics)
		if err != nil {
			t.Errorf("metrics: %v", err)
			return
		}
		page, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil {
			t.Errorf("metrics: %v", err)
			return
		}
		var held []string
		for _, line := range heldPattern.FindAllStringSubmatch(string(page), -1) {
			if line[2] != "0" {
				held = append(held, line[0])
			}
		}
		if len(held) == 0 {
			return
		}
		if time.Now().After(end) {
			t.Errorf("held for calls that have ended: %s", strings.Join(held, ", "))
			return
		}
	}
}

// RunEtcd starts the store with the settings (nil: NewTestConfig's) and returns a client of it. Both end with the test.
func RunEtcd(t testing.TB, config *embed.Config) *kubernetes.Client {
	t.Helper()
	picking.Lock()
	defer picking.Unlock()
	if config == nil {
		config = NewTestConfig(t)
	}
	startProcess(t, config)

	tlsConfig, err := config.ClientTLSInfo.ClientConfig()
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.New(clientv3.Config{
		TLS:         tlsConfig,
		Endpoints:   strings.Split(commaSeparated(config.AdvertiseClientUrls), ","),
		DialTimeout: startTimeout,
		DialOptions: []grpc.DialOption{grpc.WithBlock()},
		Logger:      zaptest.NewLogger(t, zaptest.Level(zapcore.ErrorLevel)).Named("client"),
	})
	if err != nil {
		t.Fatalf("the store did not listen within %v: %v", startTimeout, err)
	}
	// A listening port is not a serving store: the first linearizable read is.
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	if _, err := client.KV.Get(ctx, "ready"); err != nil {
		t.Fatalf("the store did not serve within %v: %v", startTimeout, err)
	}
	client.KV = storagetesting.NewKVRecorder(client.KV)
	client.Kubernetes = storagetesting.NewKubernetesRecorder(client.Kubernetes)
	return client
}
