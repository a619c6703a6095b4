// Command wire makes hosts of their own on one machine, and the network between them, which it can spoil.
//
//	wire [-seed N] -control SOCKET -hosts a=10.77.0.1,b=10.77.0.2 -run b -- COMMAND ...
//
// Each host is a network namespace with a loopback and one TUN device. wire carries the packets from device to device, by
// the rules of their pair. The command runs on the host -run; NETNS_<host> in its environment is a path for `nsenter --net=`.
// All is gone when the command ends. It needs root and /dev/net/tun, and no tools.
package main

import (
	"errors"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
)

func main() {
	control := flag.String("control", "", "unix socket on which rules arrive")
	list := flag.String("hosts", "", "name=address, separated by commas")
	on := flag.String("run", "", "the host of the command")
	seed := flag.Uint64("seed", 1, "of what is lost, doubled and late")
	flag.Parse()
	if err := run(*control, *list, *on, *seed, flag.Args()); err != nil {
		var ended *exec.ExitError
		if errors.As(err, &ended) {
			os.Exit(ended.ExitCode())
		}
		fmt.Fprintln(os.Stderr, "wire:", err)
		os.Exit(1)
	}
}

func run(control, list, on string, seed uint64, command []string) error {
	network := newNetwork(seed)
	environment := os.Environ()
	var place *host
	for _, item := range strings.Split(list, ",") {
		name, text, _ := strings.Cut(item, "=")
		address, err := netip.ParseAddr(text)
		if err != nil {
			return err
		}
		made, err := newHost(name, address)
		if err != nil {
			return fmt.Errorf("host %s: %w", name, err)
		}
		network.add(made)
		environment = append(environment, fmt.Sprintf("NETNS_%s=%s", name, made.netns))
		if name == on {
			place = made
		}
	}
	if place == nil || len(command) == 0 {
		return errors.New("-run and a command are needed")
	}
	if err := network.listen(control); err != nil {
		return err
	}
	network.start()
	return place.run(command, environment)
}

// run starts the command from a thread of the host, whose namespace the child inherits.
func (h *host) run(command, environment []string) error {
	child := exec.Command(command[0], command[1:]...)
	child.Env = environment
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := h.do(child.Start); err != nil {
		return err
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		for caught := range signals {
			_ = child.Process.Signal(caught)
		}
	}()
	return child.Wait()
}

// do runs a function on the host's own thread.
func (h *host) do(work func() error) error {
	done := make(chan error)
	h.work <- func() { done <- work() }
	return <-done
}

// onOwnThread serves work on a thread that never returns to the scheduler: its namespace is not the others'.
func onOwnThread(work chan func()) {
	runtime.LockOSThread()
	for todo := range work {
		todo()
	}
}
