import protobuf from 'protobufjs';
import {
  field,
  hex,
  list,
  ms,
  OTLP_COMMON,
  type ServedExports,
  serveExports,
  text,
  type Values,
  valuesOf,
} from './otlp.ts';

/** The part of OTLP (opentelemetry-proto v1.5) that has what tests look at. */
const PROTO = `${OTLP_COMMON}
message Request { repeated ResourceSpans resource_spans = 1; }
message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
message ScopeSpans { Scope scope = 1; repeated Span spans = 2; }
message Span {
  bytes trace_id = 1; bytes span_id = 2; bytes parent_span_id = 4; string name = 5; int32 kind = 6;
  fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8; repeated KeyValue attributes = 9;
  repeated Event events = 11; Status status = 15;
}
message Event { fixed64 time_unix_nano = 1; string name = 2; repeated KeyValue attributes = 3; }
message Status { string message = 2; int32 code = 3; }
`;

const EXPORT = '/opentelemetry.proto.collector.trace.v1.TraceService/Export';

/** A span as it was exported. Times are in milliseconds since 1970. */
export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty: it has no parent. */
  readonly parentId: string;
  readonly name: string;
  /** 1: internal, 2: server, 3: client. */
  readonly kind: number;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Values;
  readonly events: readonly { readonly name: string; readonly atMs: number }[];
  readonly status: { readonly code: number; readonly message: string };
  readonly resource: Values;
  readonly scope: string;
}

/** Takes OTLP over gRPC in plain text on a free port of the loopback. */
export class Collector implements AsyncDisposable {
  readonly address: string;
  readonly spans: CollectedSpan[] = [];
  /** All bytes that came, for what must be in none of them. */
  readonly received: Buffer[] = [];
  readonly #close: () => void;
  #came = (): void => {};

  private constructor({ port, close }: ServedExports) {
    this.#close = close;
    this.address = `127.0.0.1:${port}`;
  }

  static async start(): Promise<Collector> {
    const request = protobuf.parse(PROTO, { keepCase: true }).root.lookupType('Request');
    let take = (_bytes: Uint8Array): void => {};
    const served = await serveExports(EXPORT, (bytes) => {
      take(bytes);
      return Buffer.alloc(0);
    });
    const collector = new Collector(served);
    take = (bytes) => {
      collector.received.push(Buffer.from(bytes));
      collector.spans.push(...spansOf(request.toObject(request.decode(bytes), { longs: String, defaults: true })));
      collector.#came();
    };
    return collector;
  }

  /** Resolves when what has come is enough. */
  async until(enough: (spans: readonly CollectedSpan[]) => boolean): Promise<void> {
    while (!enough(this.spans)) {
      await new Promise<void>((resolve) => {
        this.#came = resolve;
      });
    }
  }

  /** The names of one trace as a tree: one line a span, each two spaces deeper than its parent, in the order of their starts. */
  tree(traceId: string): string[] {
    const inTrace = this.spans.filter((span) => span.traceId === traceId).sort((a, b) => a.startMs - b.startMs);
    const known = new Set(inTrace.map(({ spanId }) => spanId));
    const lines: string[] = [];
    const add = ({ name, spanId }: CollectedSpan, depth: number): void => {
      lines.push(`${'  '.repeat(depth)}${name}`);
      for (const span of inTrace) if (span.parentId === spanId) add(span, depth + 1);
    };
    for (const span of inTrace) if (!known.has(span.parentId)) add(span, 0);
    return lines;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#close();
  }
}

function spansOf(request: unknown): CollectedSpan[] {
  const spans: CollectedSpan[] = [];
  for (const resourceSpans of list(request, 'resource_spans')) {
    const resource = valuesOf(field(resourceSpans, 'resource'));
    for (const scopeSpans of list(resourceSpans, 'scope_spans')) {
      const scope = text(field(scopeSpans, 'scope'), 'name');
      for (const span of list(scopeSpans, 'spans')) spans.push(spanOf(span, resource, scope));
    }
  }
  return spans;
}

function spanOf(span: unknown, resource: Values, scope: string): CollectedSpan {
  const status = field(span, 'status');
  return {
    traceId: hex(span, 'trace_id'),
    spanId: hex(span, 'span_id'),
    parentId: hex(span, 'parent_span_id'),
    name: text(span, 'name'),
    kind: Number(field(span, 'kind')),
    startMs: ms(span, 'start_time_unix_nano'),
    endMs: ms(span, 'end_time_unix_nano'),
    attributes: valuesOf(span),
    events: list(span, 'events').map((event) => ({ name: text(event, 'name'), atMs: ms(event, 'time_unix_nano') })),
    status: { code: Number(field(status, 'code') ?? 0), message: text(status, 'message') },
    resource,
    scope,
  };
}
