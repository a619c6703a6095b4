package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Until somebody leads after a leader was killed.
const leaderTimeout = 20 * time.Second

// store is the store under test: one member or several, each with one data directory and one address over all its starts.
type store struct {
	launcher, dir string
	members       []*member
	// Before and behind the flags of a member.
	command, flags []string
}

type member struct {
	name, dataDir        string
	clientPort, peerPort int
	// Behind the flags of all.
	flags   []string
	starts  int
	running *process
}

func newStore(launcher, dir string, size int) (*store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	s := &store{launcher: launcher, dir: dir}
	for at := range size {
		client, err := freePort()
		if err != nil {
			return nil, err
		}
		peer, err := freePort()
		if err != nil {
			return nil, err
		}
		name := fmt.Sprintf("m%d", at+1)
		s.members = append(s.members, &member{
			name: name, dataDir: filepath.Join(dir, name), clientPort: client, peerPort: peer,
		})
	}
	return s, nil
}

func (m *member) url() string     { return fmt.Sprintf("http://127.0.0.1:%d", m.clientPort) }
func (m *member) peerURL() string { return fmt.Sprintf("http://127.0.0.1:%d", m.peerPort) }

func (s *store) urls() []string {
	var urls []string
	for _, m := range s.members {
		urls = append(urls, m.url())
	}
	return urls
}

// addresses are host:port.
func (s *store) addresses() []string {
	var addresses []string
	for _, m := range s.members {
		addresses = append(addresses, fmt.Sprintf("127.0.0.1:%d", m.clientPort))
	}
	return addresses
}

// initialCluster is what --initial-cluster says of the members.
func (s *store) initialCluster() string {
	var initial []string
	for _, m := range s.members {
		initial = append(initial, m.name+"="+m.peerURL())
	}
	return strings.Join(initial, ",")
}

// start starts the members that do not run, and waits until all serve.
func (s *store) start(ctx context.Context) error {
	for _, m := range s.members {
		if m.running != nil {
			continue
		}
		if err := s.launch(m); err != nil {
			return err
		}
	}
	for _, m := range s.members {
		if err := m.says(ctx, readyLine); err != nil {
			return err
		}
	}
	return nil
}

// launch starts a process of this member.
func (s *store) launch(m *member) (err error) {
	m.starts++
	log := filepath.Join(s.dir, fmt.Sprintf("%s-%d.log", m.name, m.starts))
	args := append(slices.Clone(s.command), "--name="+m.name, "--data-dir="+m.dataDir,
		"--listen-client-urls="+m.url(), "--advertise-client-urls="+m.url(),
		"--listen-peer-urls="+m.peerURL(), "--initial-advertise-peer-urls="+m.peerURL(),
		"--initial-cluster="+s.initialCluster())
	m.running, err = startProcess(log, s.launcher, slices.Concat(args, s.flags, m.flags)...)
	return err
}

// says waits until the member's process has logged a text.
func (m *member) says(ctx context.Context, text string) error {
	return m.running.waitUntil(ctx, m.name+" says "+text, func() bool {
		log, _ := os.ReadFile(m.running.logFile)
		return bytes.Contains(log, []byte(text))
	})
}

func (m *member) kill() {
	if m.running != nil {
		m.running.kill()
		m.running = nil
	}
}

func (s *store) kill() {
	for _, m := range s.members {
		m.kill()
	}
}

func (s *store) stop() {
	for _, m := range s.members {
		m.running.stop()
		m.running = nil
	}
}

// leader asks the members until one says that it leads.
func (c *cluster) leader(ctx context.Context) (*member, error) {
	ctx, cancel := context.WithTimeout(ctx, leaderTimeout)
	defer cancel()
	for {
		for _, m := range c.store.members {
			asked, cancel := context.WithTimeout(ctx, time.Second)
			status, err := c.etcd.Status(asked, m.url())
			cancel()
			if err == nil && status.Leader == status.Header.MemberId {
				return m, nil
			}
		}
		select {
		case <-ctx.Done():
			return nil, errors.New("nobody leads")
		case <-time.After(pollInterval):
		}
	}
}
