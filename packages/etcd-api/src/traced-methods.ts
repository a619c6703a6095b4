import { parseTraceparent, type Span, type Tracer } from '@engram/core';
import type {
  CallContext,
  CallHead,
  Message,
  Method,
  MethodTable,
  RpcStatus,
  StreamCall,
  StreamHandler,
  UnaryMethod,
} from '@engram/wire';

/**
 * The same methods, each call recorded by the tracer: it begins when the transport passes the call on, and ends with the answer of a
 * unary call, or when a stream is closed. A call that the tracer does not record is passed on as it is.
 */
export function tracedMethods(methods: MethodTable, tracer: Tracer): MethodTable {
  return new Map([...methods].map(([path, method]) => [path, traced(path, method, tracer)] as const));
}

function traced(path: string, method: Method, tracer: Tracer): Method {
  const begin = (call: CallContext): Span | undefined =>
    tracer.begin({ method: path, from: 'client', parent: parseTraceparent(call.metadata('traceparent')) });
  switch (method.kind) {
    case 'unary':
      return {
        kind: 'unary',
        handle: (request, call) => {
          const span = begin(call);
          return span === undefined ? method.handle(request, call) : recorded(span, method, request, call);
        },
      };
    case 'bidi':
      return {
        kind: 'bidi',
        open: (call) => {
          const span = begin(call);
          return span === undefined ? method.open(call) : opened(span, call, (inner) => method.open(inner));
        },
      };
    case 'server-stream':
      return {
        kind: 'server-stream',
        open: (request, call) => {
          const span = begin(call);
          return span === undefined
            ? method.open(request, call)
            : opened(span, call, (inner) => method.open(request, inner));
        },
      };
  }
}

/** An answer that is encoded while it is sent ends the call as well: the methods have done their work. */
function recorded(span: Span, method: UnaryMethod, request: Uint8Array, call: CallContext): Message | Promise<Message> {
  let answer: Message | Promise<Message>;
  try {
    answer = method.handle(request, new RecordedCall(call, span));
  } catch (error) {
    span.end(error);
    throw error;
  }
  if (!(answer instanceof Promise)) {
    span.end();
    return answer;
  }
  return answer.then(
    (message) => {
      span.end();
      return message;
    },
    (error: unknown) => {
      span.end(error);
      throw error;
    },
  );
}

function opened(span: Span, call: StreamCall, open: (call: StreamCall) => StreamHandler): StreamHandler {
  const inner = new RecordedStreamCall(call, span);
  try {
    return new RecordedHandler(open(inner), inner, span);
  } catch (error) {
    span.end(error);
    throw error;
  }
}

class RecordedCall<Call extends CallContext> implements CallContext {
  readonly span: Span;
  protected readonly call: Call;

  constructor(call: Call, span: Span) {
    this.call = call;
    this.span = span;
  }

  get head(): CallHead {
    return this.call.head;
  }

  get signal(): AbortSignal {
    return this.call.signal;
  }

  get peer(): string {
    return this.call.peer;
  }

  get client(): object | string {
    return this.call.client;
  }

  get method(): string {
    return this.call.method;
  }

  get commonName(): string | undefined {
    return this.call.commonName;
  }

  metadata(name: string): string | undefined {
    return this.call.metadata(name);
  }

  /** A transport without memory accounts has room. */
  reserveAnswer(bytes: number): boolean {
    return this.call.reserveAnswer?.(bytes) ?? true;
  }
}

class RecordedStreamCall extends RecordedCall<StreamCall> implements StreamCall {
  /** With which the server ended the call; undefined: with success, or the client ended it. */
  status: RpcStatus | undefined;

  get queuedBytes(): number {
    return this.call.queuedBytes;
  }

  get crowded(): boolean {
    return this.call.crowded;
  }

  send(message: Message): void {
    this.call.send(message);
  }

  end(status?: RpcStatus): void {
    this.status ??= status;
    this.call.end(status);
  }
}

class RecordedHandler implements StreamHandler {
  readonly #handler: StreamHandler;
  readonly #call: RecordedStreamCall;
  readonly #span: Span;
  #failure: unknown;

  constructor(handler: StreamHandler, call: RecordedStreamCall, span: Span) {
    this.#handler = handler;
    this.#call = call;
    this.#span = span;
  }

  message(request: Uint8Array): void {
    this.#guarded(() => this.#handler.message(request));
  }

  halfClosed(): void {
    this.#guarded(() => this.#handler.halfClosed());
  }

  drained(): void {
    this.#guarded(() => this.#handler.drained());
  }

  closed(): void {
    try {
      this.#handler.closed();
    } finally {
      this.#span.end(this.#failure ?? this.#call.status);
    }
  }

  /** The transport ends the call with what the handler throws. */
  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#failure ??= error;
      throw error;
    }
  }
}
