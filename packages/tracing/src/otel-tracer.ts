import {
  type Clock,
  GrpcCode,
  type Logger,
  type Random,
  type Span,
  type SpanAttributes,
  type SpanKind,
  type TraceContext,
  type TracedCall,
  type Tracer,
} from '@engram/core';
import {
  type Attributes,
  type HrTime,
  type Context as OtelContext,
  type Span as OtelApiSpan,
  SpanKind as OtelKind,
  ROOT_CONTEXT,
  SpanStatusCode,
  trace,
  type Tracer as OtelApiTracer,
  TraceFlags,
} from '@opentelemetry/api';
import { keyScope } from './key-scope.ts';

const PER_MILLION = 1_000_000;
/** The log says how many calls are not recorded once in this time. */
const TOLD_MS = 60_000;
const kinds = { server: OtelKind.SERVER, client: OtelKind.CLIENT, internal: OtelKind.INTERNAL } as const;
const codeNames = new Map<number, string>(Object.entries(GrpcCode).map(([name, code]) => [code, name]));
/** Codes that are a fault of the server (semantic conventions of OpenTelemetry for gRPC). */
const serverFaults: ReadonlySet<number> = new Set([
  GrpcCode.UNKNOWN,
  GrpcCode.DEADLINE_EXCEEDED,
  GrpcCode.UNIMPLEMENTED,
  GrpcCode.INTERNAL,
  GrpcCode.UNAVAILABLE,
  GrpcCode.DATA_LOSS,
]);

export interface OtelTracerOptions {
  readonly tracer: OtelApiTracer;
  /**
   * Of a million calls whose client names no trace, so many are recorded. Undefined: the sampler of `tracer` is asked for each
   * call.
   */
  readonly samplingPerMillion: number | undefined;
  /** Calls of clients that are recorded in a second at most. 0: no bound. */
  readonly callsPerSecondMax: number;
  /** Otherwise only the scope of a key is recorded (`keyScope`). */
  readonly recordKeys: boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Pick<Logger, 'warn'>;
}

/**
 * OpenTelemetry behind the port of core. Contexts are passed by hand: a context manager would cost each promise. A call that is
 * not recorded costs one decision, without an object. One that is costs as much as several puts, and a client may ask for it with each
 * call: so the calls of clients that are recorded are bounded. What a member does for a recorded call of another is recorded too.
 */
export class OtelTracer implements Tracer {
  readonly #options: OtelTracerOptions;
  readonly #room: CallsRoom;
  /** Calls without a parent that are not recorded before one that is. */
  #passed: number;

  constructor(options: OtelTracerOptions) {
    this.#options = options;
    this.#room = new CallsRoom(options);
    this.#passed = this.#draw();
  }

  /** As etcd's sampler, which is that of the parent: a caller that names its trace decides, and the rate is for the others. */
  wants(parent: TraceContext | undefined): boolean {
    if (this.#options.samplingPerMillion === undefined) return true;
    if (parent !== undefined) return (parent.flags & TraceFlags.SAMPLED) !== 0;
    if (this.#passed > 0) {
      this.#passed -= 1;
      return false;
    }
    this.#passed = this.#draw();
    return true;
  }

  begin({ method, from, parent, peer }: TracedCall): Span | undefined {
    const { tracer, clock, samplingPerMillion } = this.#options;
    const isBounded = from === 'client';
    const isDecided = samplingPerMillion !== undefined;
    if (isBounded && isDecided && !this.#room.take()) return undefined;
    const context = parent === undefined ? ROOT_CONTEXT : contextOf(parent);
    const time = new SpanTime(clock);
    const attributes: Attributes = { 'rpc.system.name': 'grpc', 'rpc.method': method, 'engram.from': from };
    if (peer !== undefined) attributes['client.address'] = peer;
    const span = tracer.startSpan(
      method,
      { kind: OtelKind.SERVER, attributes, startTime: time.of(undefined) },
      context,
    );
    if (!span.isRecording()) return undefined;
    // Only now is it known that the library's sampler wants the call. A span that never ends is not exported.
    if (isBounded && !isDecided && !this.#room.take()) return undefined;
    return new OtelSpan(this.#options, span, time, undefined, true);
  }

  /**
   * How many calls pass until the next that is recorded, as if each of them had been drawn for: the geometric distribution, by the inverse
   * of its distribution function. So most calls draw nothing.
   */
  #draw(): number {
    const { samplingPerMillion: rate = 0, random } = this.#options;
    if (rate <= 0) return Number.POSITIVE_INFINITY;
    if (rate >= PER_MILLION) return 0;
    return Math.floor(Math.log((random.uint32() + 1) / 2 ** 32) / Math.log1p(-rate / PER_MILLION));
  }
}

function contextOf({ traceId, spanId, flags }: TraceContext): OtelContext {
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: flags, isRemote: true });
}

/** Room for as many calls as a second may have, made anew as time passes. */
class CallsRoom {
  readonly #options: OtelTracerOptions;
  #left: number;
  #filledMs: number;
  #refused = 0;
  /** When refusals were last logged. */
  #toldMs = Number.NEGATIVE_INFINITY;

  constructor(options: OtelTracerOptions) {
    this.#options = options;
    this.#left = options.callsPerSecondMax;
    this.#filledMs = options.clock.nowMs();
  }

  take(): boolean {
    const { callsPerSecondMax: max, clock } = this.#options;
    if (max === 0) return true;
    const nowMs = clock.nowMs();
    this.#left = Math.min(max, this.#left + ((nowMs - this.#filledMs) * max) / 1000);
    this.#filledMs = nowMs;
    if (this.#left < 1) {
      this.#refuse(nowMs);
      return false;
    }
    this.#left -= 1;
    return true;
  }

  #refuse(nowMs: number): void {
    this.#refused += 1;
    if (nowMs - this.#toldMs < TOLD_MS) return;
    this.#options.logger.warn(
      { calls: this.#refused, max: this.#options.callsPerSecondMax },
      'calls are not traced: there are more than a second may have',
    );
    this.#toldMs = nowMs;
    this.#refused = 0;
  }
}

/** Times of one call on the wall clock. They keep the order and the distances of the monotonic clock. */
class SpanTime {
  readonly #clock: Clock;
  readonly #originMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#originMs = clock.wallMs() - clock.nowMs();
  }

  /** By the clock's `nowMs`. Undefined: now. */
  of(atMs: number | undefined): HrTime {
    const ms = this.#originMs + (atMs ?? this.#clock.nowMs());
    const seconds = Math.floor(ms / 1000);
    return [seconds, Math.round((ms - seconds * 1000) * 1e6)];
  }
}

class OtelSpan implements Span {
  readonly context: TraceContext;
  readonly #options: OtelTracerOptions;
  readonly #span: OtelApiSpan;
  readonly #time: SpanTime;
  readonly #parent: OtelSpan | undefined;
  readonly #isCall: boolean;
  /** Those that have not ended. */
  #children: Set<OtelSpan> | undefined;
  #ended = false;

  constructor(
    options: OtelTracerOptions,
    span: OtelApiSpan,
    time: SpanTime,
    parent: OtelSpan | undefined,
    isCall: boolean,
  ) {
    const { traceId, spanId, traceFlags } = span.spanContext();
    this.context = { traceId, spanId, flags: traceFlags };
    this.#options = options;
    this.#span = span;
    this.#time = time;
    this.#parent = parent;
    this.#isCall = isCall;
  }

  set(attributes: SpanAttributes): void {
    if (!this.#ended) this.#span.setAttributes(recordable(attributes, this.#options.recordKeys));
  }

  stage(name: string, atMs?: number): void {
    if (!this.#ended) this.#span.addEvent(name, undefined, this.#time.of(atMs));
  }

  child(name: string, attributes: SpanAttributes = {}, kind: SpanKind = 'internal'): Span {
    const { tracer, recordKeys } = this.#options;
    const start = {
      kind: kinds[kind],
      attributes: recordable(attributes, recordKeys),
      startTime: this.#time.of(undefined),
    };
    const span = tracer.startSpan(name, start, trace.setSpan(ROOT_CONTEXT, this.#span));
    const child = new OtelSpan(this.#options, span, this.#time, this, false);
    if (this.#ended) child.end();
    else {
      this.#children ??= new Set();
      this.#children.add(child);
    }
    return child;
  }

  end(error?: unknown): void {
    if (this.#ended) return;
    if (this.#children !== undefined) for (const child of [...this.#children]) child.end(error);
    this.#ended = true;
    this.#parent?.forget(this);
    const code = codeOf(error);
    if (this.#isCall) this.#span.setAttribute('rpc.response.status_code', codeNames.get(code) ?? String(code));
    const failed = error !== undefined && (!this.#isCall || serverFaults.has(code));
    if (failed) this.#span.setStatus({ code: SpanStatusCode.ERROR, message: textOf(error) });
    this.#span.end(this.#time.of(undefined));
  }

  forget(child: OtelSpan): void {
    this.#children?.delete(child);
  }
}

/** The code of an error that a client gets. */
function codeOf(error: unknown): number {
  if (error === undefined) return GrpcCode.OK;
  if (typeof error === 'object' && error !== null && 'grpc' in error && typeof error.grpc === 'number')
    return error.grpc;
  return GrpcCode.UNKNOWN;
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Keys become text if they may be recorded, and otherwise the scope of the first one. */
export function recordable(attributes: SpanAttributes, recordKeys: boolean): Attributes {
  const recorded: Attributes = {};
  for (const [name, value] of Object.entries(attributes)) {
    if (!(value instanceof Uint8Array)) recorded[name] = value;
    else if (recordKeys) recorded[name] = Buffer.from(value.buffer, value.byteOffset, value.length).toString();
    else if (recorded['key_scope'] === undefined) {
      const scope = keyScope(value);
      if (scope !== '') recorded['key_scope'] = scope;
    }
  }
  return recorded;
}
