import type { TraceContext } from './trace-context.ts';

/** Bytes are a key of the store: the adapter says how much of it is recorded, if anything. */
export type SpanValue = string | number | boolean | Uint8Array;
export type SpanAttributes = Readonly<Record<string, SpanValue>>;

/** server: work for a caller. client: a request to another node. internal: a part of the work. */
export type SpanKind = 'server' | 'client' | 'internal';

/** A call that begins. */
export interface TracedCall {
  /** The method's path without its first slash, such as `etcdserverpb.KV/Put`; for a call of another member, its name in proto/peer. */
  readonly method: string;
  /** Who calls: a client, or another member that forwards the call of one of its clients. */
  readonly from: 'client' | 'member';
  /** The span in which the caller made the call; undefined if it did not say. */
  readonly parent: TraceContext | undefined;
  /** The caller's address; of another member its name. */
  readonly peer?: string | undefined;
}

/**
 * One call, or a part of one, from its beginning to its end. Times are those of the clock's `nowMs`; without one, now. What comes
 * after the end is dropped.
 */
export interface Span {
  /** What this call has other nodes do belongs to this span. */
  readonly context: TraceContext;
  set(attributes: SpanAttributes): void;
  /** The call has reached a stage, such as `decided`. Stages of one call come in their order; a call need not name any. */
  stage(name: string, atMs?: number): void;
  /** A part of the work, an internal one by default. It ends at the latest when this span ends, and then as this one does. */
  child(name: string, attributes?: SpanAttributes, kind?: SpanKind): Span;
  /** With an error, or with success if there is none. Only the first end counts. */
  end(error?: unknown): void;
}

/**
 * Records what happens to calls: a port that a tracing library is adapted to. Ids, times, sampling and export are the adapter's. All methods
 * are called in the hot path, synchronously: they must not throw, and must not wait.
 */
export interface Tracer {
  /**
   * Whether a call is recorded whose caller named `parent`, or nothing. Asked once for each call, so that one that is not recorded costs
   * no more than this. The parent's context is passed on all the same.
   */
  wants(parent: TraceContext | undefined): boolean;
  /** Of a call that it wants. Undefined if it is not recorded after all. */
  begin(call: TracedCall): Span | undefined;
}

/** Records nothing. Where it is given, calls are not even asked about. */
export const noTracer: Tracer = { wants: () => false, begin: () => undefined };
