// judge runs the whole of h2spec, strict cases included, against an HTTP/2 server on 127.0.0.1. What failed is printed
// with what was expected; the last line is "N passed, N failed". A case that was skipped failed.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/summerwind/h2spec/config"
	"github.com/summerwind/h2spec/generic"
	"github.com/summerwind/h2spec/hpack"
	"github.com/summerwind/h2spec/http2"
	"github.com/summerwind/h2spec/reporter"
	"github.com/summerwind/h2spec/spec"
)

func main() {
	port := flag.Int("port", 0, "port of the server")
	tls := flag.Bool("tls", false, "speak TLS; the server's certificate is not checked")
	path := flag.String("path", "/", "path of the requests")
	flag.Parse()

	groups := []*spec.TestGroup{generic.Spec(), http2.Spec(), hpack.Spec()}
	passed, failed := 0, 0
	for _, group := range groups {
		group.Test(&config.Config{
			Host:         "127.0.0.1",
			Port:         *port,
			Path:         *path,
			Timeout:      10 * time.Second,
			MaxHeaderLen: 4000,
			Strict:       true,
			TLS:          *tls,
			Insecure:     true,
		})
		passed += group.PassedCount
		failed += group.FailedCount + group.SkippedCount
	}
	if failed > 0 {
		reporter.FailedTests(groups)
	}
	fmt.Printf("%d passed, %d failed\n", passed, failed)
	if failed > 0 || passed == 0 {
		os.Exit(1)
	}
}
