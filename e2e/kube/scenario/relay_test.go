package main

import (
	"bufio"
	"net"
	"testing"
	"time"
)

// greeter is a store that says its name to everybody, and then takes what comes.
func greeter(t *testing.T, name string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			conn.Write([]byte(name + "\n"))
			go func() {
				defer conn.Close()
				for buffer := make([]byte, 100); ; {
					if _, err := conn.Read(buffer); err != nil {
						return
					}
				}
			}()
		}
	}()
	return listener.Addr().String()
}

func dialRelay(t *testing.T, r *relay) *bufio.Reader {
	t.Helper()
	conn, err := net.Dial("tcp", r.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	return bufio.NewReader(conn)
}

func hears(t *testing.T, from *bufio.Reader, expected string) {
	t.Helper()
	if line, err := from.ReadString('\n'); err != nil || line != expected+"\n" {
		t.Fatalf("%q (%v), not %q", line, err, expected)
	}
}

func TestAHeldRelayEndsItsConnectionsAndLeadsThoseThatWaitToTheNextStore(t *testing.T) {
	r, err := newRelay()
	if err != nil {
		t.Fatal(err)
	}
	defer r.listener.Close()
	early := dialRelay(t, r)
	r.release([]string{greeter(t, "old")})
	hears(t, early, "old")
	r.hold()
	if line, err := early.ReadString('\n'); err == nil {
		t.Fatalf("a connection of before says %q", line)
	}
	waiting := dialRelay(t, r)
	r.release([]string{greeter(t, "next")})
	hears(t, waiting, "next")
	hears(t, dialRelay(t, r), "next")
}

func TestAHistoryDiffersInItsFirstLineThatIsNotTheSame(t *testing.T) {
	if err := sameLines("keys", []string{"a", "b"}, []string{"a", "b"}); err != nil {
		t.Fatal(err)
	}
	for _, next := range [][]string{{"a"}, {"a", "b", "c"}, {"a", "x"}} {
		if err := sameLines("keys", []string{"a", "b"}, next); err == nil {
			t.Fatalf("%v is taken for the same", next)
		}
	}
}
