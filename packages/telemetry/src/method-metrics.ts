import { exponentialBounds, PlainHistogram, type RecordedCall } from './plain-histogram.ts';
import type { CallTiming, RequestTimings } from './request-timings.ts';

/** Go's names of the codes, as in grpc_server_handled_total (grpc/grpc-go codes/code_string.go). */
export const codeNames = [
  'OK',
  'Canceled',
  'Unknown',
  'InvalidArgument',
  'DeadlineExceeded',
  'NotFound',
  'AlreadyExists',
  'PermissionDenied',
  'ResourceExhausted',
  'FailedPrecondition',
  'Aborted',
  'OutOfRange',
  'Unimplemented',
  'Internal',
  'Unavailable',
  'DataLoss',
  'Unauthenticated',
] as const;

export type RpcKind = 'unary' | 'bidi' | 'server-stream';
const kindNames: Readonly<Record<RpcKind, string>> = {
  unary: 'unary',
  bidi: 'bidi_stream',
  'server-stream': 'server_stream',
};

/** The histogram of successful calls, then that of failed calls. */
export type SuccessAndFailure = readonly [PlainHistogram, PlainHistogram];

export interface MethodMetricsOptions {
  readonly extensive: boolean;
  readonly timings: RequestTimings;
  /** A second histogram for ranges, because etcd counts their seconds twice. */
  readonly rangeSeconds: SuccessAndFailure | undefined;
  readonly clock: WallClock;
}

export interface WallClock {
  /** Milliseconds since 1970. */
  wallMs(): number;
}

/** What is read of a call: its span, if it is recorded. */
export interface CountedCall {
  readonly span?: { readonly context: { readonly traceId: string } } | undefined;
}

/** Counters for the calls of one method, as hooks of it: a call costs only some additions. */
export class MethodMetrics {
  readonly labels: Readonly<Record<string, string>>;
  readonly handledByCode = new Float64Array(codeNames.length);
  /** With gRPC's default buckets. */
  readonly seconds = new PlainHistogram([0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]);
  readonly requestSeconds = successAndFailure(0.001, 14);
  startedCount = 0;
  receivedCount = 0;
  receivedBytes = 0;
  /** As etcd's interceptor, which counts an answer of each unary call that has ended, also where it is only a status. */
  sentCount = 0;
  sentBytes = 0;

  readonly #unary: boolean;
  readonly #timing: CallTiming | undefined;
  readonly #options: MethodMetricsOptions;

  constructor(path: string, kind: RpcKind, options: MethodMetricsOptions) {
    const [, service = '', method = ''] = path.split('/');
    this.labels = { grpc_type: kindNames[kind], grpc_service: service, grpc_method: method };
    this.#unary = kind === 'unary';
    this.#timing = options.timings.of(path);
    this.#options = options;
  }

  begin(): void {
    this.startedCount += 1;
    if (this.#timing !== undefined) this.#options.timings.started(this.#timing);
  }

  end({ span }: CountedCall, { code }: { readonly code: number }, ms: number): void {
    const { timings, extensive, rangeSeconds, clock } = this.#options;
    const traced: RecordedCall | undefined =
      span === undefined ? undefined : { traceId: span.context.traceId, wallMs: clock.wallMs() };
    // Clients treat a code that gRPC does not define as UNKNOWN.
    const known = code >= 0 && code < codeNames.length ? code : 2;
    this.handledByCode[known]! += 1;
    const seconds = ms / 1000;
    if (this.#timing !== undefined) timings.handled(this.#timing, known, seconds, traced);
    if (extensive) this.seconds.observe(seconds, traced);
    if (!this.#unary) return;
    this.sentCount += 1;
    const outcome = known === 0 ? 0 : 1;
    this.requestSeconds[outcome].observe(seconds, traced);
    if (rangeSeconds !== undefined) rangeSeconds[outcome].observe(seconds, traced);
  }

  received(_call: unknown, bytes: number): void {
    this.receivedCount += 1;
    this.receivedBytes += bytes;
  }

  sent(_call: unknown, bytes: number): void {
    if (!this.#unary) this.sentCount += 1;
    this.sentBytes += bytes;
  }
}

export function successAndFailure(start: number, count: number): SuccessAndFailure {
  const bounds = exponentialBounds(start, 2, count);
  return [new PlainHistogram(bounds), new PlainHistogram(bounds)];
}
