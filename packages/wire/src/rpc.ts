/**
 * The interface between etcd-api and transport. A method takes bytes and returns bytes. Methods do not depend on
 * sockets, and the transport does not depend on message types. Both transports (our own codec and @grpc/grpc-js) serve
 * the same table of methods.
 */
import type { Span, TraceContext } from '@engram/core';

/**
 * A message that is encoded while it is sent. It can be read once. Its reader drops it in any case: after the last byte, and
 * where it stops before that.
 */
export interface LongMessage {
  /** The length of the whole message. */
  readonly bytes: number;
  /** Memory that the message holds, approximately: at most its length. */
  readonly heldBytes: number;
  /**
   * Makes the next `bytes` bytes ready to be read. Returns undefined if they are ready. Rejects if they cannot be read;
   * the message then cannot be completed. The caller must call it again after the promise has resolved, because the
   * promise may be that of an earlier call for fewer bytes.
   */
  prepare(bytes: number): Promise<void> | undefined;
  /** It waits for its client, perhaps for long, before its first byte is read: short views are to become copies. */
  stays?(): void;
  /** Writes as many of the next bytes to target[start..end) as fit. Returns the index after them. */
  read(target: Uint8Array, start: number, end: number): number;
  /** Releases what the message holds. Nothing may be read afterwards. May be called more than once. */
  drop(): void;
}

/**
 * One encoded message: whole, in pieces that are sent in order, or encoded while it is sent. Pieces may be shared
 * between calls and must not be changed.
 */
export type Message = Uint8Array | readonly Uint8Array[] | LongMessage;

/** The status of a failed call: a gRPC code and the text for `grpc-message`. */
export interface RpcStatus {
  readonly code: number;
  readonly message: string;
}

/** State that calls of one connection with equal headers may share. */
export interface CallHead {
  /**
   * What the admission of calls derived from the headers, kept so that it is not derived for each call. Undefined at
   * first.
   */
  admitted: unknown;
  /** As `admitted`, of the authentication of clients. */
  credentials?: unknown;
  /** As `admitted`: the span that the client names, if it names one. */
  trace?: { readonly parent: TraceContext | undefined } | undefined;
}

/** The user for whom a call is made. */
export interface CallUser {
  readonly name: string;
  /** The revision of the users' and roles' data at which the user was authenticated. */
  readonly authRevision: number;
}

/** Information about the caller for a method. */
export interface CallContext {
  /** Records the call. Set by the interceptor that traces, when the call begins. Undefined: it is not recorded. */
  span?: Span | undefined;
  /** Set by what admits the call. Undefined: nobody is authenticated. */
  user?: CallUser | undefined;
  readonly head: CallHead;
  /** The first value of a metadata key, which is in lower case. Text values only. */
  metadata(name: string): string | undefined;
  /** Aborted when the client cancels, the deadline passes, or the connection ends. Created at the first use. */
  readonly signal: AbortSignal;
  /** The client's host:port, or the path of the socket. */
  readonly peer: string;
  /** The connection. Its calls share one part of the event loop's time. */
  readonly client: object | string;
  /** The path of the method. */
  readonly method: string;
  /** The subject CommonName of the client's verified certificate, if there is one. */
  readonly commonName: string | undefined;
  /**
   * Counts bytes of an answer that is being assembled against the client's memory, until the call has ended. Returns
   * false if the client has no room for them; the answer must then not be assembled. Absent in a transport without
   * memory accounts.
   */
  reserveAnswer?(bytes: number): boolean;
  /**
   * As `reserveAnswer`, for an answer that is made in any case: if the client has no room for it, its next calls do not start until
   * it has.
   */
  holdAnswer?(bytes: number): void;
  /**
   * The handler of a unary call begins (true), or ends (false), to wait for what other clients do, however long that takes. Meanwhile the
   * call does not count as running, so that those others can be served, and a server that stops ends it with UNAVAILABLE and aborts
   * `signal`. A server stream says so if it waits before its first message, for which room is kept otherwise. No other stream needs
   * such a call: it never counts, and always ends with its server. Absent where nothing counts.
   */
  waits?(waiting: boolean): void;
}

/**
 * What is done at every call of one method, beside its handler: counting, tracing, admitting. Who calls a method calls its hooks
 * as well, in this order: `begin`, `received`, `admit`, the handler, `sent`, `end`. All of them are synchronous and on the hot path.
 * Only `admit` may throw.
 */
export interface CallHooks {
  /** The call begins: a unary one and a server stream when their request is there, a bidi one before its first message. */
  begin?(call: CallContext): void;
  /** Bytes of a message of the client, without framing. */
  received?(call: CallContext, bytes: number): void;
  /**
   * Throws what refuses the call: the handler is not called then, and `end` has the status of the error. Of a stream, `call` is the
   * `StreamCall`. `request` is undefined for a bidi method.
   */
  admit?(call: CallContext, request: Uint8Array | undefined): void;
  /** Bytes of a message of the server, without framing. */
  sent?(call: CallContext, bytes: number): void;
  /**
   * The call has its outcome, `ms` after it began: from the handler, the client that gave up, or the deadline. Called once for
   * each `begin`. A handler that the client no longer waits for may still run.
   */
  end?(call: CallContext, status: RpcStatus, ms: number): void;
}

/** One concern of every call. `intercepted` puts interceptors in front of a table of methods. */
export interface Interceptor {
  /** What is to be done at the calls of this method. Asked once, not for each call. Undefined: nothing, which costs nothing. */
  hooks(path: string, kind: Method['kind']): CallHooks | undefined;
}

/** One request, one answer. `statusOf` turns an error of `handle` into a status. */
export interface UnaryMethod {
  readonly kind: 'unary';
  readonly hooks?: CallHooks | undefined;
  handle(request: Uint8Array, call: CallContext): Message | Promise<Message>;
}

/** The server's end of a stream of messages. */
export interface StreamCall extends CallContext {
  /**
   * Sends one message without waiting. The caller checks `queuedBytes` before it sends more, and waits for `drained` if
   * too many bytes are queued.
   */
  send(message: Message): void;
  /** Bytes of sent messages that have not left the process. */
  readonly queuedBytes: number;
  /**
   * True while the client or its connection holds more of the process's memory than allowed. The handler should send
   * nothing that can wait. Afterwards `drained` is called, at least once for each time that this was true.
   */
  readonly crowded: boolean;
  /** Ends the call, with success if there is no status. Later messages are dropped. */
  end(status?: RpcStatus): void;
}

/** Called by the transport, one call at a time, in the order of events. */
export interface StreamHandler {
  /** The bytes are valid during the call only. The handler must copy bytes that it keeps. */
  message(request: Uint8Array): void;
  /** The client sends no more messages. It may still receive. */
  halfClosed(): void;
  /** `queuedBytes` fell below the transport's low mark after it was above, or `crowded` is over. */
  drained(): void;
  /** The last call, whether the client or the server ended the stream. `send` has no effect from then on. */
  closed(): void;
}

/** Messages in both directions, in any order. */
export interface BidiMethod {
  readonly kind: 'bidi';
  readonly hooks?: CallHooks | undefined;
  open(call: StreamCall): StreamHandler;
}

/** One request, many answers. `open` is called with the request; the handler's `message` is never called. */
export interface ServerStreamMethod {
  readonly kind: 'server-stream';
  readonly hooks?: CallHooks | undefined;
  open(request: Uint8Array, call: StreamCall): StreamHandler;
}

export type Method = UnaryMethod | BidiMethod | ServerStreamMethod;

/** Methods by full path, such as `/etcdserverpb.KV/Range`. A call of a missing path fails with UNIMPLEMENTED. */
export type MethodTable = ReadonlyMap<string, Method>;
