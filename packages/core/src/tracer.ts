import type { TraceContext } from './trace-context.ts';

/** A call that begins. */
export interface TracedCall {
  /** The method's path, such as `/etcdserverpb.KV/Put`; for a call of another member, its name in proto/peer. */
  readonly method: string;
  /** Who calls: a client, or another member that forwards the call of one of its clients. */
  readonly from: 'client' | 'member';
  /** The span in which the caller made the call; undefined if it did not say. */
  readonly parent: TraceContext | undefined;
}

/** One call, from its beginning to its end. */
export interface Span {
  /** What this call has other nodes do belongs to this span. */
  readonly context: TraceContext;
  /** The call has reached a stage, such as `decided`. Stages of one call come in their order; a call need not name any. */
  stage(name: string): void;
  /** The call has ended: with an error, or with success if there is none. Called once. Nothing is called afterwards. */
  end(error?: unknown): void;
}

/**
 * Records what happens to calls: a port that a tracing library is adapted to. Ids, times and sampling are the adapter's. All methods
 * are called in the hot path, synchronously: they must not throw, and must not wait.
 */
export interface Tracer {
  /** Undefined if this call is not recorded. The parent's context is passed on all the same. */
  begin(call: TracedCall): Span | undefined;
}

/** Records nothing. Where it is given, calls are not even wrapped. */
export const noTracer: Tracer = { begin: () => undefined };
