// Command coredns is CoreDNS with the plugin etcd; all of its plugins bring the clients of three clouds.
package main

import (
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/etcd"
)

func init() { dnsserver.Directives = []string{"errors", "etcd"} }

func main() { coremain.Run() }
