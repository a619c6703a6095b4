/**
 * The seam between etcd-api and transport: a method takes bytes and gives bytes. It knows no socket; the transport
 * knows no message. Both transports (the own codec and @grpc/grpc-js) serve the same table of methods.
 */

/** A message that is encoded while it leaves, because its bytes are too many to be put together first. Read once. */
export interface LongMessage {
  /** Of the whole message. */
  readonly bytes: number;
  /** Writes what comes next to target[start..end), as much as there is room for, and returns where it ended. */
  read(target: Uint8Array, start: number, end: number): number;
}

/**
 * One encoded message: whole, in pieces that are sent one after another, or made while it is sent. Pieces may be shared
 * between calls, so nobody changes them.
 */
export type Message = Uint8Array | readonly Uint8Array[] | LongMessage;

/** How a call ends when it does not succeed: a code of gRPC and the text for `grpc-message`. */
export interface RpcStatus {
  readonly code: number;
  readonly message: string;
}

/** What a method may know of its caller. */
export interface CallContext {
  /** The first value of a metadata key (lower case), text only. */
  metadata(name: string): string | undefined;
  /** Aborted when the client cancels, its deadline passes, or the connection ends. Made at the first use. */
  readonly signal: AbortSignal;
  /** host:port of the client, or the path of the socket. */
  readonly peer: string;
  /** Subject CommonName of the client's verified certificate. */
  readonly commonName: string | undefined;
}

/** One request, one answer. What it throws or rejects with becomes the status that `statusOf` makes of it. */
export interface UnaryMethod {
  readonly kind: 'unary';
  handle(request: Uint8Array, call: CallContext): Message | Promise<Message>;
}

/** The server's end of a stream of messages. */
export interface StreamCall extends CallContext {
  /** Sends one message. Never waits: look at `queuedBytes` before going on, and for `drained` where it is too much. */
  send(message: Message): void;
  /** Bytes that were sent here and have not left the process yet. */
  readonly queuedBytes: number;
  /**
   * The client, or its connection, has more of the process's memory than it may: nothing should be sent that can wait.
   * `drained` is called when that is over, at least once for each time that this was true.
   */
  readonly crowded: boolean;
  /** Ends the call; without a status it succeeded. Later sends are dropped. */
  end(status?: RpcStatus): void;
}

/** What the transport calls, one at a time, in the order in which things happen. */
export interface StreamHandler {
  /** The bytes are the handler's for the time of the call only; what it keeps it copies. */
  message(request: Uint8Array): void;
  /** The client sends no more; it may still listen. */
  halfClosed(): void;
  /** `queuedBytes` fell below the transport's low mark after it had been above; or there is room again (`crowded`). */
  drained(): void;
  /** The last call, whoever ended the stream. `send` does nothing any more. */
  closed(): void;
}

/** Messages in, messages out, in any order. */
export interface BidiMethod {
  readonly kind: 'bidi';
  open(call: StreamCall): StreamHandler;
}

/** One request, many answers. `open` is called with the request; the handler's `message` is never called. */
export interface ServerStreamMethod {
  readonly kind: 'server-stream';
  open(request: Uint8Array, call: StreamCall): StreamHandler;
}

export type Method = UnaryMethod | BidiMethod | ServerStreamMethod;

/** By full path, e.g. `/etcdserverpb.KV/Range`. A path that is not in it is answered UNIMPLEMENTED. */
export type MethodTable = ReadonlyMap<string, Method>;
