import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import {
  type ExportAnswer,
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
} from '@engram/tracing/testing';
import protobuf from 'protobufjs';

/** The part of OTLP (opentelemetry-proto v1.9) that has what tests look at. */
const PROTO = `${OTLP_COMMON}
message Request { repeated ResourceMetrics resource_metrics = 1; }
message ResourceMetrics { Resource resource = 1; repeated ScopeMetrics scope_metrics = 2; }
message ScopeMetrics { Scope scope = 1; repeated Metric metrics = 2; }
message Metric {
  string name = 1; string description = 2; string unit = 3;
  oneof data { Gauge gauge = 5; Sum sum = 7; Histogram histogram = 9; }
}
message Gauge { repeated NumberPoint data_points = 1; }
message Sum { repeated NumberPoint data_points = 1; int32 aggregation_temporality = 2; bool is_monotonic = 3; }
message Histogram { repeated HistogramPoint data_points = 1; int32 aggregation_temporality = 2; }
message NumberPoint {
  fixed64 start_time_unix_nano = 2; fixed64 time_unix_nano = 3; double as_double = 4; repeated KeyValue attributes = 7;
}
message HistogramPoint {
  fixed64 start_time_unix_nano = 2; fixed64 time_unix_nano = 3; fixed64 count = 4; double sum = 5;
  repeated fixed64 bucket_counts = 6; repeated double explicit_bounds = 7; repeated Exemplar exemplars = 8;
  repeated KeyValue attributes = 9;
}
message Exemplar { fixed64 time_unix_nano = 2; double as_double = 3; bytes span_id = 4; bytes trace_id = 5; }
message Response { PartialSuccess partial_success = 1; }
message PartialSuccess { int64 rejected_data_points = 1; string error_message = 2; }
`;

const GRPC_PATH = '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export';
const HTTP_PATH = '/v1/metrics';

/** Times are in milliseconds since 1970. */
export interface CollectedPoint {
  readonly labels: Values;
  readonly startMs: number;
  readonly atMs: number;
  /** Of a number. */
  readonly value?: number;
  /** Of a histogram. */
  readonly histogram?: {
    readonly count: number;
    readonly sum: number;
    readonly counts: readonly number[];
    readonly bounds: readonly number[];
    readonly exemplars: readonly { readonly traceId: string; readonly value: number; readonly atMs: number }[];
  };
}

export interface CollectedMetric {
  readonly kind: 'gauge' | 'sum' | 'histogram';
  readonly name: string;
  readonly help: string;
  readonly unit: string;
  /** 2: cumulative. */
  readonly temporality: number;
  readonly monotonic: boolean;
  readonly points: readonly CollectedPoint[];
  readonly resource: Values;
  readonly scope: string;
}

/** One request: all that a member told at one time. */
export interface CollectedExport {
  readonly metrics: readonly CollectedMetric[];
  readonly headers: Readonly<Record<string, string>>;
  /** Length of the request, before compression. */
  readonly bytes: number;
}

export interface MetricsCollectorOptions {
  readonly protocol?: 'grpc' | 'http/protobuf';
  /** Takes requests, and does not answer until `answers`. */
  readonly silent?: boolean;
  /** What each answer says of points that were not taken. */
  readonly rejects?: { readonly points: number; readonly why: string };
}

/** Takes metrics by OTLP in plain text on a free port of the loopback. */
export class MetricsCollector implements AsyncDisposable {
  readonly exports: CollectedExport[] = [];
  readonly #close: () => void;
  readonly #port: number;
  #silent: boolean;
  #came = (): void => {};

  private constructor({ port, close }: ServedExports, silent: boolean) {
    this.#port = port;
    this.#close = close;
    this.#silent = silent;
  }

  static async start({
    protocol = 'grpc',
    silent = false,
    rejects,
  }: MetricsCollectorOptions = {}): Promise<MetricsCollector> {
    const { root } = protobuf.parse(PROTO, { keepCase: true });
    const request = root.lookupType('Request');
    const said =
      rejects === undefined
        ? {}
        : { partial_success: { rejected_data_points: rejects.points, error_message: rejects.why } };
    const response = Buffer.from(root.lookupType('Response').encode(said).finish());
    let take: ExportAnswer = () => undefined;
    const answer: ExportAnswer = (bytes, headers) => take(bytes, headers);
    const collector = new MetricsCollector(
      await (protocol === 'grpc' ? serveExports(GRPC_PATH, answer) : serveHttp(answer)),
      silent,
    );
    take = (bytes, headers) => {
      const metrics = metricsOf(request.toObject(request.decode(bytes), { longs: String, defaults: true }));
      collector.exports.push({ metrics, headers, bytes: bytes.length });
      collector.#came();
      return collector.#silent ? undefined : response;
    };
    return collector;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** From now on requests are answered. */
  answers(): void {
    this.#silent = false;
  }

  /** The first export that is enough, among those that have come and will come. */
  async until(enough: (got: CollectedExport) => boolean): Promise<CollectedExport> {
    for (;;) {
      const found = this.exports.find(enough);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => {
        this.#came = resolve;
      });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#close();
  }
}

async function serveHttp(answer: ExportAnswer): Promise<ServedExports> {
  const server: Server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      if (request.method !== 'POST' || request.url !== HTTP_PATH) {
        response.writeHead(404).end();
        return;
      }
      const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
      const whole = Buffer.concat(pieces);
      const bytes = answer(headers['content-encoding'] === 'gzip' ? gunzipSync(whole) : whole, headers);
      if (bytes !== undefined) response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end(bytes);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { port, close };
}

const number = (value: unknown, name: string): number => Number(field(value, name) ?? 0);

function metricsOf(request: unknown): CollectedMetric[] {
  return list(request, 'resource_metrics').flatMap((resourceMetrics) => {
    const resource = valuesOf(field(resourceMetrics, 'resource'));
    return list(resourceMetrics, 'scope_metrics').flatMap((scopeMetrics) => {
      const scope = text(field(scopeMetrics, 'scope'), 'name');
      return list(scopeMetrics, 'metrics').map((metric) => metricOf(metric, resource, scope));
    });
  });
}

function metricOf(metric: unknown, resource: CollectedMetric['resource'], scope: string): CollectedMetric {
  const kind = (['gauge', 'sum', 'histogram'] as const).find((each) => field(metric, each) !== undefined) ?? 'gauge';
  const data = field(metric, kind);
  return {
    kind,
    name: text(metric, 'name'),
    help: text(metric, 'description'),
    unit: text(metric, 'unit'),
    temporality: number(data, 'aggregation_temporality'),
    monotonic: field(data, 'is_monotonic') === true,
    points: list(data, 'data_points').map((point) => pointOf(point, kind)),
    resource,
    scope,
  };
}

function pointOf(point: unknown, kind: CollectedMetric['kind']): CollectedPoint {
  const common = {
    labels: valuesOf(point),
    startMs: ms(point, 'start_time_unix_nano'),
    atMs: ms(point, 'time_unix_nano'),
  };
  if (kind !== 'histogram') return { ...common, value: number(point, 'as_double') };
  return {
    ...common,
    histogram: {
      count: number(point, 'count'),
      sum: number(point, 'sum'),
      counts: list(point, 'bucket_counts').map(Number),
      bounds: list(point, 'explicit_bounds').map(Number),
      exemplars: list(point, 'exemplars').map((exemplar) => ({
        traceId: hex(exemplar, 'trace_id'),
        value: number(exemplar, 'as_double'),
        atMs: ms(exemplar, 'time_unix_nano'),
      })),
    },
  };
}
