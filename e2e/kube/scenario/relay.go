package main

import (
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// How long a store may take to see that a client has gone.
const drainTimeout = 2 * time.Second

// relay is an address at which clients look for a store, as a TCP proxy or a service gives it. What is behind it can change.
// While it is held, it takes connections and leads them nowhere.
type relay struct {
	listener net.Listener
	mutex    sync.Mutex
	targets  []string
	next     int
	opened   chan struct{} // is closed while there are targets
	pairs    map[*pair]bool
}

// pair is a client's connection, and the one to the store.
type pair struct {
	client, store *net.TCPConn
	answered      chan struct{} // is closed when the store says nothing more
}

func newRelay() (*relay, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return nil, err
	}
	r := &relay{listener: listener, opened: make(chan struct{}), pairs: map[*pair]bool{}}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go r.serve(client.(*net.TCPConn))
		}
	}()
	return r, nil
}

func (r *relay) url() string { return "http://" + r.listener.Addr().String() }

// release leads all connections, also those that wait, to these addresses in turn.
func (r *relay) release(targets []string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.targets = targets
	close(r.opened)
}

// hold ends all connections. It returns when the store has read what its clients sent, and has closed them.
func (r *relay) hold() {
	r.mutex.Lock()
	r.targets = nil
	r.opened = make(chan struct{})
	var group sync.WaitGroup
	for p := range r.pairs {
		group.Go(p.drain)
	}
	r.mutex.Unlock()
	group.Wait()
}

func (p *pair) drain() {
	p.store.CloseWrite()
	select {
	case <-p.answered:
	case <-time.After(drainTimeout):
	}
	p.store.Close()
	p.client.Close()
}

func (r *relay) serve(client *net.TCPConn) {
	defer client.Close()
	for {
		r.mutex.Lock()
		opened := r.opened
		r.mutex.Unlock()
		<-opened
		r.mutex.Lock()
		if len(r.targets) == 0 {
			r.mutex.Unlock()
			continue
		}
		target := r.targets[r.next%len(r.targets)]
		r.next++
		r.mutex.Unlock()
		store, err := net.DialTimeout("tcp", target, drainTimeout)
		if err != nil {
			return
		}
		p := &pair{client: client, store: store.(*net.TCPConn), answered: make(chan struct{})}
		r.mutex.Lock()
		if r.opened != opened {
			r.mutex.Unlock()
			store.Close()
			continue
		}
		r.pairs[p] = true
		r.mutex.Unlock()
		p.copy()
		r.mutex.Lock()
		delete(r.pairs, p)
		r.mutex.Unlock()
		return
	}
}

// copy returns when both sides have ended.
func (p *pair) copy() {
	go func() {
		io.Copy(p.client, p.store)
		close(p.answered)
		p.client.Close()
	}()
	io.Copy(p.store, p.client)
	p.store.CloseWrite()
	<-p.answered
	p.store.Close()
}
