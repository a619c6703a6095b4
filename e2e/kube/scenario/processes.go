package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

const (
	readyTimeout = 60 * time.Second
	stopTimeout  = 20 * time.Second
	readyLine    = "ready to serve client requests"
	pollInterval = 50 * time.Millisecond
)

// process is one start of a program; its output goes to a file.
type process struct {
	command *exec.Cmd
	logFile string
	exited  chan struct{}
}

func startProcess(logFile, program string, args ...string) (*process, error) {
	log, err := os.OpenFile(logFile, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	p := &process{command: exec.Command(program, args...), logFile: logFile, exited: make(chan struct{})}
	p.command.Stdout, p.command.Stderr = log, log
	// It ends with us, however we end. The kernel counts the thread as the parent, so the thread stays until then.
	p.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		err := p.command.Start()
		log.Close()
		started <- err
		if err == nil {
			p.command.Wait()
		}
		close(p.exited)
	}()
	return p, <-started
}

func (p *process) kill() {
	p.command.Process.Kill()
	<-p.exited
}

func (p *process) stop() {
	p.command.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.exited:
	case <-time.After(stopTimeout):
		fmt.Printf("%s did not stop within %v\n", p.command.Path, stopTimeout)
		p.kill()
	}
}

func (p *process) tail(size int) string {
	text, _ := os.ReadFile(p.logFile)
	return string(text[max(0, len(text)-size):])
}

// waitUntil asks until the answer is yes; it fails at the bound, or at once when the process is gone.
func (p *process) waitUntil(ctx context.Context, what string, ready func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	for !ready() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: not within %v:\n%s", what, readyTimeout, p.tail(4000))
		case <-p.exited:
			return fmt.Errorf("%s: the process has ended:\n%s", what, p.tail(4000))
		case <-time.After(pollInterval):
		}
	}
	return nil
}

// freePort finds a port below the range from which the kernel gives ports to clients. A port of that range could belong
// to any connection of the machine when its server binds it, at a restart too.
func freePort() (int, error) {
	for range 100 {
		port := 5000 + rand.IntN(10000)
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			listener.Close()
			return port, nil
		}
	}
	return 0, errors.New("100 ports between 5000 and 15000 are taken")
}

// apiserver is kube-apiserver on the store.
type apiserver struct {
	*process
	address string
	certs   *certificates
}

func startAPIServer(ctx context.Context, binary, dir string, storeURLs []string, flags ...string) (*apiserver, error) {
	certs, err := makeCertificates(dir)
	if err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	p, err := startProcess(filepath.Join(dir, "kube-apiserver.log"), binary, append([]string{
		"--etcd-servers=" + strings.Join(storeURLs, ","),
		"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", port), "--advertise-address=127.0.0.1",
		"--tls-cert-file=" + certs.servingCertFile, "--tls-private-key-file=" + certs.servingKeyFile,
		"--client-ca-file=" + certs.caFile, "--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + certs.serviceAccountKeyFile,
		"--service-account-signing-key-file=" + certs.serviceAccountKeyFile,
		"--service-cluster-ip-range=10.0.0.0/24",
		// A loopback address is no endpoint of a service, and no controller makes service accounts here.
		"--endpoint-reconciler-type=none", "--disable-admission-plugins=ServiceAccount",
		"--event-ttl=" + eventTTL.String(), "--etcd-compaction-interval=" + compactionInterval.String(),
		// Secrets are read and watched past the apiserver's cache, ConfigMaps out of it.
		"--watch-cache-sizes=secrets#0",
		"--max-requests-inflight=1000", "--max-mutating-requests-inflight=1000",
	}, flags...)...)
	if err != nil {
		return nil, err
	}
	server := &apiserver{process: p, address: fmt.Sprintf("https://127.0.0.1:%d", port), certs: certs}
	client, err := server.newClient("readiness")
	if err != nil {
		return server, err
	}
	return server, p.waitUntil(ctx, "kube-apiserver is ready", func() bool {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		_, err := client.typed.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
		return err == nil
	})
}
