import type { Caller } from '@engram/backend';
import { parseTraceparent, type Span, type TraceContext } from '@engram/core';
import type { CallContext } from '@engram/wire';

/** The client of one call. Clients are not authenticated yet, so it has no user. */
export class RpcCaller implements Caller {
  readonly user = '';
  readonly authRevision = 0;
  readonly #call: CallContext;

  constructor(call: CallContext) {
    this.#call = call;
  }

  get client(): object | string {
    return this.#call.client;
  }

  get method(): string {
    return this.#call.method;
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }

  get span(): Span | undefined {
    return this.#call.span;
  }

  /** What the client has sent is read where it is asked for: where the call is forwarded. */
  get trace(): TraceContext | undefined {
    return this.#call.span?.context ?? parseTraceparent(this.#call.metadata('traceparent'));
  }

  reserveAnswer(bytes: number): boolean {
    return this.#call.reserveAnswer?.(bytes) ?? true;
  }

  /** None: the call's deadline aborts `signal`, and the store's request timeout bounds the rest. */
  get timeoutMs(): number | undefined {
    return undefined;
  }
}
