// Package suite names what the tests of Vitess' topology on etcd need, so that go.mod has it.
package suite

import (
	_ "github.com/stretchr/testify/require"
	_ "vitess.io/vitess/go/testfiles"
	_ "vitess.io/vitess/go/vt/tlstest"
	_ "vitess.io/vitess/go/vt/topo/etcd2topo"
	_ "vitess.io/vitess/go/vt/topo/test"
)
