import type { Span } from '@engram/core';
import {
  type BidiMethod,
  type CallHead,
  type CallHooks,
  type CallUser,
  joinMessage,
  type Message,
  messageBytes,
  type RpcStatus,
  type ServerStreamMethod,
  type StreamCall,
  type StreamHandler,
  statusOf,
} from '@engram/wire';

export type Metadata = Readonly<Record<string, string>>;

/** A call without a socket. Its client reads everything at once, unless it is stalled. */
export class FakeCall implements StreamCall {
  readonly peer: string;
  readonly method = '/test';
  readonly commonName: string | undefined;
  span: Span | undefined;
  user: CallUser | undefined;
  readonly sent: Uint8Array[] = [];
  /** The status with which the call has ended. Undefined while it runs. */
  status: RpcStatus | undefined;
  queuedBytes = 0;
  crowded = false;
  stalled = false;
  readonly #metadata: Metadata;
  readonly #abort = new AbortController();
  #handler: StreamHandler | undefined;
  #hooks: CallHooks | undefined;
  #closed = false;

  readonly head: CallHead;
  /** Its handler waits for other clients. */
  waiting = false;

  /** Calls of one connection with the same headers share `head`. */
  constructor(
    metadata: Metadata = {},
    commonName?: string,
    head: CallHead = { admitted: undefined },
    peer = '127.0.0.1:1',
  ) {
    this.head = head;
    this.peer = peer;
    this.#metadata = metadata;
    this.commonName = commonName;
  }

  static bidi(method: BidiMethod, metadata?: Metadata, commonName?: string, head?: CallHead): FakeCall {
    const call = new FakeCall(metadata, commonName, head);
    call.#open(method.hooks, undefined, () => method.open(call));
    return call;
  }

  static serverStream(
    method: ServerStreamMethod,
    request: Uint8Array,
    metadata?: Metadata,
    commonName?: string,
    head?: CallHead,
  ): FakeCall {
    const call = new FakeCall(metadata, commonName, head);
    call.#open(method.hooks, request, () => method.open(request, call));
    return call;
  }

  waits(waiting: boolean): void {
    this.waiting = waiting;
  }

  /** One connection for each address and port. */
  get client(): string {
    return this.peer;
  }

  metadata(name: string): string | undefined {
    return this.#metadata[name];
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Sends a request. Its bytes are overwritten afterwards, as a transport reuses its buffer. */
  request(bytes: Uint8Array): void {
    const lent = bytes.slice();
    this.#guard(() => this.#handler?.message(lent));
    lent.fill(0xff);
  }

  halfClose(): void {
    this.#guard(() => this.#handler?.halfClosed());
  }

  /** The client has gone. */
  cancel(): void {
    this.#abort.abort();
    this.#close();
  }

  /** A stalled client reads everything that is queued. */
  read(): void {
    this.queuedBytes = 0;
    this.#handler?.drained();
  }

  send(message: Message): void {
    if (this.status !== undefined || this.#closed) return;
    this.sent.push(new Uint8Array(joinMessage(message)));
    if (this.stalled) this.queuedBytes += messageBytes(message);
  }

  end(status: RpcStatus = { code: 0, message: '' }): void {
    if (this.status !== undefined || this.#closed) return;
    this.status = status;
    this.#close();
  }

  #open(hooks: CallHooks | undefined, request: Uint8Array | undefined, open: () => StreamHandler): void {
    this.#hooks = hooks;
    hooks?.begin?.(this);
    this.#guard(() => {
      hooks?.admit?.(this, request);
      this.#handler = open();
    });
    if (this.#closed) this.#handler?.closed();
  }

  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#hooks?.end?.(this, this.status ?? { code: 1, message: 'context canceled' }, 0);
    this.#handler?.closed();
  }

  #guard(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.end(statusOf(error, 'stream'));
    }
  }
}
