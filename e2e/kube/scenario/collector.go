package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	collectorv1 "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonv1 "go.opentelemetry.io/proto/otlp/common/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
)

// A request has a batch of spans, each of which may have long attributes.
const exportBytesMax = 64 << 20

// span is a span as it was exported.
type span struct {
	trace, id string
	// Empty: it has no parent.
	parent string
	name   string
	kind   tracev1.Span_SpanKind
	// service.name and service.instance.id of what recorded it.
	service, instance string
	attributes        map[string]string
	start, end        time.Time
}

// where tells who recorded the span: a member by its name, and anything else by its service.
func (s span) where() string {
	if s.service == "etcd" {
		return s.instance
	}
	return s.service
}

// collector takes spans by OTLP over gRPC in plain text, and keeps them.
type collector struct {
	collectorv1.UnimplementedTraceServiceServer
	server  *grpc.Server
	address string
	mutex   sync.Mutex
	spans   []span
}

func startCollector() (*collector, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	c := &collector{server: grpc.NewServer(grpc.MaxRecvMsgSize(exportBytesMax)), address: listener.Addr().String()}
	collectorv1.RegisterTraceServiceServer(c.server, c)
	go c.server.Serve(listener)
	return c, nil
}

func (c *collector) stop() { c.server.Stop() }

// Export takes one batch.
func (c *collector) Export(_ context.Context, request *collectorv1.ExportTraceServiceRequest) (*collectorv1.ExportTraceServiceResponse, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for _, ofResource := range request.ResourceSpans {
		resource := valuesOf(ofResource.Resource.GetAttributes())
		for _, ofScope := range ofResource.ScopeSpans {
			for _, one := range ofScope.Spans {
				c.spans = append(c.spans, span{
					trace: hex.EncodeToString(one.TraceId), id: hex.EncodeToString(one.SpanId), parent: hex.EncodeToString(one.ParentSpanId),
					name: one.Name, kind: one.Kind,
					service: resource["service.name"], instance: resource["service.instance.id"], attributes: valuesOf(one.Attributes),
					start: time.Unix(0, int64(one.StartTimeUnixNano)), end: time.Unix(0, int64(one.EndTimeUnixNano)),
				})
			}
		}
	}
	return &collectorv1.ExportTraceServiceResponse{}, nil
}

func valuesOf(attributes []*commonv1.KeyValue) map[string]string {
	values := map[string]string{}
	for _, one := range attributes {
		switch value := one.Value.GetValue().(type) {
		case *commonv1.AnyValue_StringValue:
			values[one.Key] = value.StringValue
		case *commonv1.AnyValue_IntValue:
			values[one.Key] = fmt.Sprint(value.IntValue)
		default:
			values[one.Key] = one.Value.String()
		}
	}
	return values
}

// traceOf gives the spans of the trace whose span is the one looked for, in the order of their starts; none while it has not come.
func (c *collector) traceOf(is func(span) bool) trace {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	at := slices.IndexFunc(c.spans, is)
	if at < 0 {
		return nil
	}
	var found trace
	for _, one := range c.spans {
		if one.trace == c.spans[at].trace {
			found = append(found, one)
		}
	}
	slices.SortStableFunc(found, func(a, b span) int { return a.start.Compare(b.start) })
	return found
}

// trace is the spans of one trace that have come, in the order of their starts.
type trace []span

// roots are the spans whose parent is not in the trace.
func (t trace) roots() (roots trace) {
	for _, one := range t {
		if t.parentOf(one) == nil {
			roots = append(roots, one)
		}
	}
	return roots
}

func (t trace) parentOf(child span) *span {
	at := slices.IndexFunc(t, func(one span) bool { return one.id == child.parent })
	if at < 0 {
		return nil
	}
	return &t[at]
}

// pathTo has a line for each span from the root to one.
func (t trace) pathTo(one span) []string {
	path := []string{line(one.where(), one.kind, one.name)}
	for parent := t.parentOf(one); parent != nil && len(path) <= len(t); parent = t.parentOf(*parent) {
		path = append(path, line(parent.where(), parent.kind, parent.name))
	}
	slices.Reverse(path)
	return path
}

func line(where string, kind tracev1.Span_SpanKind, name string) string {
	return fmt.Sprintf("%s %s (%s)", where, name, strings.ToLower(strings.TrimPrefix(kind.String(), "SPAN_KIND_")))
}

// tree is one line a span: who recorded it, when it began behind the first and how long it took, in milliseconds, and its name below
// its parent's.
func (t trace) tree() string {
	var text strings.Builder
	ms := func(took time.Duration) float64 { return float64(took.Microseconds()) / 1000 }
	var add func(one span, depth int)
	add = func(one span, depth int) {
		fmt.Fprintf(&text, "%-9s %7.1f %7.1f  %s%s\n", one.where(), ms(one.start.Sub(t[0].start)), ms(one.end.Sub(one.start)),
			strings.Repeat("  ", depth), one.name)
		for _, child := range t {
			if child.parent == one.id && depth < len(t) {
				add(child, depth+1)
			}
		}
	}
	for _, root := range t.roots() {
		add(root, 0)
	}
	return text.String()
}
