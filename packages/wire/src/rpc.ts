/**
 * The interface between etcd-api and transport: a method takes bytes and returns bytes. It knows no socket, and the
 * transport knows no message. Both transports (our own codec and @grpc/grpc-js) serve the same table of methods.
 */

/**
 * A message that is encoded while it is sent, because it is too long to assemble first. It can be read once, and is either
 * read to its end or dropped.
 */
export interface LongMessage {
  /** The length of the whole message. */
  readonly bytes: number;
  /** What it takes of memory, about: as much as its length, or less. */
  readonly heldBytes: number;
  /**
   * Makes the next `bytes` bytes ready to be read. Undefined: they are. Rejects where they cannot be had: then the message
   * has no end. Whoever has waited asks once more: the promise may be that of an earlier call for less.
   */
  prepare(bytes: number): Promise<void> | undefined;
  /** Writes the next bytes to target[start..end), as many as fit, and returns where they end. */
  read(target: Uint8Array, start: number, end: number): number;
  /** Nobody reads the rest. May be called more than once, and after the end. */
  drop(): void;
}

/**
 * One encoded message: whole, in pieces that are sent in order, or made while it is sent. Pieces may be shared between
 * calls and must not be changed.
 */
export type Message = Uint8Array | readonly Uint8Array[] | LongMessage;

/** How a call fails: a gRPC code and the text for `grpc-message`. */
export interface RpcStatus {
  readonly code: number;
  readonly message: string;
}

/** What calls with equal headers may share. */
export interface CallHead {
  /** What whoever admits calls makes of the headers, so that it need not for each call. Undefined at first. */
  admitted: unknown;
}

/** What a method may know of its caller. */
export interface CallContext {
  readonly head: CallHead;
  /** The first value of a metadata key (lower case), text only. */
  metadata(name: string): string | undefined;
  /** Aborted when the client cancels, the deadline passes, or the connection ends. Created at the first use. */
  readonly signal: AbortSignal;
  /** The client's host:port, or the path of the socket. */
  readonly peer: string;
  /** The subject CommonName of the client's verified certificate. */
  readonly commonName: string | undefined;
  /**
   * Counts bytes of an answer that is being made, until the call is through. False: the client has no room for them, and
   * the answer must not be made. A transport without accounts has none.
   */
  reserveAnswer?(bytes: number): boolean;
}

/** One request, one answer. `statusOf` turns what it throws or rejects with into a status. */
export interface UnaryMethod {
  readonly kind: 'unary';
  handle(request: Uint8Array, call: CallContext): Message | Promise<Message>;
}

/** The server's end of a stream of messages. */
export interface StreamCall extends CallContext {
  /**
   * Sends one message without waiting. Check `queuedBytes` before sending more, and wait for `drained` if it is too
   * much.
   */
  send(message: Message): void;
  /** Bytes that were passed to `send` and have not left the process. */
  readonly queuedBytes: number;
  /**
   * The client, or its connection, holds more of the process's memory than it may: send nothing that can wait. When
   * that is over, `drained` is called, at least once for each time that this was true.
   */
  readonly crowded: boolean;
  /** Ends the call, with success if there is no status. Later sends are dropped. */
  end(status?: RpcStatus): void;
}

/** Called by the transport, one call at a time, in the order of events. */
export interface StreamHandler {
  /** The bytes are valid during the call only. The handler copies what it keeps. */
  message(request: Uint8Array): void;
  /** The client sends no more. It may still listen. */
  halfClosed(): void;
  /** `queuedBytes` fell below the transport's low mark after it was above, or `crowded` is over. */
  drained(): void;
  /** The last call, no matter who ended the stream. `send` has no effect any more. */
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

/** By full path, as `/etcdserverpb.KV/Range`. A path that is missing here is answered UNIMPLEMENTED. */
export type MethodTable = ReadonlyMap<string, Method>;
