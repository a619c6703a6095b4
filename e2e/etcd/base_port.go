package e2e

import (
	"fmt"
	"math/rand/v2"
	"net"
)

// Ports that one run may use: five for each member, and the suite numbers them upwards from the first.
const portsOfARun = 50

// EtcdProcessBasePort takes the place of the suite's constant 20000, so that two runs on one machine do not meet. It is
// below the range from which the kernel gives ports to clients.
var EtcdProcessBasePort = freeBasePort()

func freeBasePort() int {
	for range 100 {
		base := 20000 + portsOfARun*rand.IntN(240)
		if allFree(base) {
			return base
		}
	}
	panic("no block of free ports between 20000 and 32000")
}

func allFree(base int) bool {
	for port := base; port < base+portsOfARun; port++ {
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			return false
		}
		listener.Close()
	}
	return true
}
