import type { Caller } from '@engram/backend';
import type { Span, SpanAttributes, TraceContext } from '@engram/core';
import type { CallContext } from '@engram/wire';
import { parentOf } from './call-tracing.ts';

/** The client of one call, with the user that the call was admitted for. */
export class RpcCaller implements Caller {
  readonly #call: CallContext;
  readonly #signal: AbortSignal | undefined;
  #operation: Span | undefined;

  /** `signal` stands for the call's own, if the call may end earlier. */
  constructor(call: CallContext, signal?: AbortSignal) {
    this.#call = call;
    this.#signal = signal;
  }

  get call(): CallContext {
    return this.#call;
  }

  get user(): string {
    return this.#call.user?.name ?? '';
  }

  get authRevision(): number {
    return this.#call.user?.authRevision ?? 0;
  }

  get client(): object | string {
    return this.#call.client;
  }

  get method(): string {
    return this.#call.method;
  }

  get signal(): AbortSignal {
    return this.#signal ?? this.#call.signal;
  }

  /** Whether the call is recorded, so that `does` is worth its attributes. */
  get isRecorded(): boolean {
    return this.#call.span !== undefined;
  }

  /** Names the operation of a call that is recorded, as a span of its own in that of the call. What the store does belongs to it. */
  does(operation: string, attributes: SpanAttributes): void {
    this.#operation = this.#call.span?.child(operation, attributes);
  }

  get span(): Span | undefined {
    return this.#operation ?? this.#call.span;
  }

  /** What the client has sent is read where it is asked for: where the call is forwarded. */
  get trace(): TraceContext | undefined {
    return this.span?.context ?? parentOf(this.#call);
  }

  reserveAnswer(bytes: number): boolean {
    return this.#call.reserveAnswer?.(bytes) ?? true;
  }

  holdAnswer(bytes: number): void {
    this.#call.holdAnswer?.(bytes);
  }

  /** None: the call's deadline aborts `signal`, and the store's request timeout bounds the rest. */
  get timeoutMs(): number | undefined {
    return undefined;
  }
}
