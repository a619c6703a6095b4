import { parseTraceparent, type TraceContext, type Tracer } from '@engram/core';
import { type CallContext, type CallHooks, type Interceptor, type RpcStatus, StatusError } from '@engram/wire';

/** The span that the client of a call names in `traceparent`. Calls with equal headers are parsed once. */
export function parentOf(call: CallContext): TraceContext | undefined {
  const { head } = call;
  head.trace ??= { parent: parseTraceparent(call.metadata('traceparent')) };
  return head.trace.parent;
}

/**
 * Has each call recorded by the tracer, below the span that its client names in `traceparent`. The call's own span is in `span`
 * while the call runs, and ends with its outcome. A call that the tracer does not record has none.
 */
export class CallTracing implements Interceptor {
  readonly #tracer: Tracer;

  constructor(tracer: Tracer) {
    this.#tracer = tracer;
  }

  hooks(path: string): CallHooks {
    const tracer = this.#tracer;
    const method = path.slice(1);
    return {
      begin(call: CallContext): void {
        const parent = parentOf(call);
        if (tracer.wants(parent)) call.span = tracer.begin({ method, from: 'client', parent, peer: call.peer });
      },
      end({ span }: CallContext, { code, message }: RpcStatus): void {
        span?.end(code === 0 ? undefined : new StatusError(code, message));
      },
    };
  }
}
