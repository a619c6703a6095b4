package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"
)

// A rule spoils what goes from one host to another. The zero value carries everything at once.
type rule struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Only what goes from or to this TCP port; 0: everything.
	Port uint16 `json:"port"`
	// Shares of the packets, 0 to 1.
	Lose   float64 `json:"lose"`
	Double float64 `json:"double"`
	// A packet waits for DelayMs, and for up to JitterMs more: so packets overtake each other.
	DelayMs  float64 `json:"delayMs"`
	JitterMs float64 `json:"jitterMs"`
}

type pair struct{ from, to string }

type network struct {
	hosts  map[netip.Addr]*host
	mutex  sync.Mutex
	rules  map[pair]rule
	random *rand.Rand
}

func newNetwork(seed uint64) *network {
	return &network{hosts: map[netip.Addr]*host{}, rules: map[pair]rule{}, random: rand.New(rand.NewPCG(seed, seed))}
}

func (n *network) add(h *host) { n.hosts[h.address] = h }

func (n *network) start() {
	for _, from := range n.hosts {
		go n.carry(from)
	}
}

// carry reads what a host sends, for ever.
func (n *network) carry(from *host) {
	buffer := make([]byte, 1<<16)
	for {
		size, err := from.tun.Read(buffer)
		if err != nil {
			if !errors.Is(err, os.ErrClosed) {
				fmt.Fprintln(os.Stderr, "wire:", err)
			}
			return
		}
		// IPv4 only: what a kernel says by itself in IPv6 goes nowhere.
		if size < 20 || buffer[0]>>4 != 4 {
			continue
		}
		to, known := n.hosts[netip.AddrFrom4([4]byte(buffer[16:20]))]
		if !known {
			continue
		}
		copies, delays := n.fate(pair{from.name, to.name}, buffer[:size])
		for at := range copies {
			if delays[at] == 0 {
				_, _ = to.tun.Write(buffer[:size])
				continue
			}
			packet := append([]byte(nil), buffer[:size]...)
			time.AfterFunc(delays[at], func() { _, _ = to.tun.Write(packet) })
		}
	}
}

// fate says how often a packet arrives, and how late each time.
func (n *network) fate(on pair, packet []byte) (copies int, delays [2]time.Duration) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	r, spoiled := n.rules[on]
	if !spoiled || r.Port != 0 && !hasPort(packet, r.Port) {
		return 1, delays
	}
	if n.random.Float64() < r.Lose {
		return 0, delays
	}
	copies = 1
	if n.random.Float64() < r.Double {
		copies = 2
	}
	for at := range copies {
		delays[at] = time.Duration((r.DelayMs + n.random.Float64()*r.JitterMs) * float64(time.Millisecond))
	}
	return copies, delays
}

// hasPort says whether an IPv4 packet is one of TCP from or to a port.
func hasPort(packet []byte, port uint16) bool {
	header := int(packet[0]&0xf) * 4
	if packet[9] != 6 || len(packet) < header+4 {
		return false
	}
	from := binary.BigEndian.Uint16(packet[header:])
	to := binary.BigEndian.Uint16(packet[header+2:])
	return from == port || to == port
}

// listen takes rules from one client at a time, a line of JSON each: all rules that hold from then on. It answers "ok".
func (n *network) listen(path string) error {
	listener, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			n.obey(connection)
		}
	}()
	return nil
}

func (n *network) obey(connection net.Conn) {
	defer connection.Close()
	lines := bufio.NewScanner(connection)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var list []rule
		if err := json.Unmarshal(lines.Bytes(), &list); err != nil {
			fmt.Fprintln(connection, err)
			continue
		}
		rules := make(map[pair]rule, len(list))
		for _, r := range list {
			rules[pair{r.From, r.To}] = r
		}
		n.mutex.Lock()
		n.rules = rules
		n.mutex.Unlock()
		fmt.Fprintln(connection, "ok")
	}
}
