import { type AuthInfo, type CallRule, callRules } from '@engram/auth';
import { permitRoot, permitUser } from '@engram/backend';
import { EngramError, GrpcCode } from '@engram/core';
import {
  type BidiMethod,
  type CallContext,
  type Message,
  type Method,
  type MethodTable,
  type RpcStatus,
  type ServerStreamMethod,
  type StreamCall,
  type StreamHandler,
  statusOf,
  type UnaryMethod,
} from '@engram/wire';
import type { Authenticator } from './authenticator.ts';

/** Bytes of a stream's messages that wait until it is known who the client is. Each counts for some more. */
const WAITING_BYTES_MAX = 1024 * 1024;
const MESSAGE_BYTES = 256;
const tooMany: RpcStatus = { code: GrpcCode.UNAVAILABLE, message: 'etcdserver: too many requests before the log-in' };

/**
 * The same methods for clients that log in: each call finds out who makes it, and notes it in its context (`CallContext.user`).
 * What needs no more than a user, or root, and is answered by this node alone, is judged here. Keys and leases are judged by the
 * store, and what the leader decides by the leader. While authentication is off, a call costs one question more.
 */
export function authorizedMethods(methods: MethodTable, auth: Authenticator): MethodTable {
  return new Map([...methods].map(([path, method]) => [path, authorized(path, method, auth)] as const));
}

function authorized(path: string, method: Method, auth: Authenticator): Method {
  const rule = ruleOf(path);
  if (rule === 'nothing') return method;
  const admittance = new Admittance(auth, isLocal(path) ? permitOf(rule) : undefined);
  switch (method.kind) {
    case 'unary':
      return unary(method, auth, admittance);
    case 'server-stream':
      return serverStream(method, auth, admittance);
    case 'bidi':
      return bidi(method, auth);
  }
}

const ETCD = '/etcdserverpb.';

/** Services that call others as their client does. They find out who that is, because their refusals have a code of their own. */
const OF_CLIENTS = ['/v3lockpb.', '/v3electionpb.'];

/**
 * A method that is not etcd's, as those of the health service, is for everybody. One that has no rule names its keys itself, and the
 * store judges them. Nobody would judge it for a member alone: it is root's.
 */
function ruleOf(path: string): CallRule {
  if (path.startsWith('/grpc.') || OF_CLIENTS.some((service) => path.startsWith(service))) return 'nothing';
  const rules: Readonly<Record<string, CallRule>> = callRules;
  const rule = path.startsWith(ETCD) ? rules[path.slice(ETCD.length)] : undefined;
  return rule ?? (isLocal(path) ? 'root' : 'keys');
}

/** No leader judges these again, but for changes of members. */
const isLocal = (path: string): boolean =>
  (path.startsWith(`${ETCD}Cluster/`) || path.startsWith(`${ETCD}Maintenance/`)) && path !== `${ETCD}Maintenance/Alarm`;

function permitOf(rule: CallRule): typeof permitUser | undefined {
  return rule === 'user' ? permitUser : rule === 'root' ? permitRoot : undefined;
}

/** Admits the calls of one method. */
class Admittance {
  readonly #auth: Authenticator;
  readonly #permit: typeof permitUser | undefined;

  constructor(auth: Authenticator, permit: typeof permitUser | undefined) {
    this.#auth = auth;
    this.#permit = permit;
  }

  /** Undefined: the call is admitted. A promise: it must be admitted again when that has settled. Throws what refuses the call. */
  atOnce(call: CallContext): Promise<unknown> | undefined {
    // Of most calls it is known whose they are: nothing else is asked for them.
    const info = this.#auth.admitKnown(call);
    const wait = info === undefined ? this.#auth.ready(call) : undefined;
    if (wait === undefined) this.#judge(info);
    return wait;
  }

  late(call: CallContext): void {
    this.#judge(this.#auth.admitKnown(call));
  }

  #judge(info: AuthInfo | undefined): void {
    if (info === undefined) throw new EngramError('InvalidAuthToken');
    this.#permit?.(this.#auth.view.state, info);
  }
}

function unary(method: UnaryMethod, auth: Authenticator, admittance: Admittance): UnaryMethod {
  // A function of its own: its closure would cost the calls that do not wait.
  const later = async (wait: Promise<unknown>, request: Uint8Array, call: CallContext): Promise<Message> => {
    await wait;
    admittance.late(call);
    return method.handle(request, call);
  };
  return {
    ...method,
    handle: (request, call) => {
      const wait = auth.enabled ? admittance.atOnce(call) : undefined;
      return wait === undefined ? method.handle(request, call) : later(wait, request, call);
    },
  };
}

function serverStream(method: ServerStreamMethod, auth: Authenticator, admittance: Admittance): ServerStreamMethod {
  return {
    ...method,
    open: (request, call) => {
      if (!auth.enabled) return method.open(request, call);
      const wait = admittance.atOnce(call);
      if (wait === undefined) return method.open(request, call);
      return new LateStream(call, wait, () => {
        admittance.late(call);
        return method.open(request, call);
      });
    },
  };
}

/** Each message is judged by who the client is then: the handlers ask (`Authenticator.identify`). */
function bidi(method: BidiMethod, auth: Authenticator): BidiMethod {
  return { ...method, open: (call) => new IdentifiedStream(call, method.open(call), auth) };
}

/** A stream whose handler is opened when it is known who the client is. */
class LateStream implements StreamHandler {
  #handler: StreamHandler | undefined;
  #halfClosed = false;
  #closed = false;

  constructor(call: StreamCall, ready: Promise<unknown>, open: () => StreamHandler) {
    void ready.then(() => {
      if (this.#closed) return;
      try {
        this.#handler = open();
        if (this.#halfClosed) this.#handler.halfClosed();
      } catch (error) {
        call.end(statusOf(error, 'stream'));
      }
    });
  }

  message(request: Uint8Array): void {
    this.#handler?.message(request);
  }

  halfClosed(): void {
    this.#halfClosed = true;
    this.#handler?.halfClosed();
  }

  drained(): void {
    this.#handler?.drained();
  }

  closed(): void {
    this.#closed = true;
    this.#handler?.closed();
  }
}

/** No Buffer: its `slice` would be a view, and keep the chunk that the message came in. */
const copyOf = (request: Uint8Array): Uint8Array => new Uint8Array(request);

/** A stream whose messages wait, in their order, where it is not known yet whether the client's token counts. */
class IdentifiedStream implements StreamHandler {
  readonly #call: StreamCall;
  readonly #handler: StreamHandler;
  readonly #auth: Authenticator;
  /** Undefined: none waits. */
  #waiting: Uint8Array[] | undefined;
  #waitingBytes = 0;
  #halfClosed = false;
  #closed = false;

  constructor(call: StreamCall, handler: StreamHandler, auth: Authenticator) {
    this.#call = call;
    this.#handler = handler;
    this.#auth = auth;
  }

  message(request: Uint8Array): void {
    if (this.#waiting !== undefined) {
      this.#waitingBytes += MESSAGE_BYTES + request.length;
      if (this.#waitingBytes > WAITING_BYTES_MAX) this.#call.end(tooMany);
      else this.#waiting.push(copyOf(request));
      return;
    }
    const ready = this.#auth.enabled ? this.#auth.ready(this.#call) : undefined;
    if (ready === undefined) {
      this.#handler.message(request);
      return;
    }
    this.#waiting = [copyOf(request)];
    this.#waitingBytes = MESSAGE_BYTES + request.length;
    void ready.then(() => this.#passOn());
  }

  #passOn(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    try {
      for (const request of waiting) {
        if (this.#closed) return;
        this.#handler.message(request);
      }
      if (this.#halfClosed && !this.#closed) this.#handler.halfClosed();
    } catch (error) {
      this.#call.end(statusOf(error, 'stream'));
    }
  }

  halfClosed(): void {
    this.#halfClosed = true;
    if (this.#waiting === undefined) this.#handler.halfClosed();
  }

  drained(): void {
    this.#handler.drained();
  }

  closed(): void {
    this.#closed = true;
    this.#waiting = undefined;
    this.#handler.closed();
  }
}
