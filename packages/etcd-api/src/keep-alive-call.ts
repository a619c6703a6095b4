import type { AuthView, Caller, Store } from '@engram/backend';
import { Fifo, GrpcCode, type LeaseId, type Span } from '@engram/core';
import { type Job, settled, type Task } from '@engram/loop';
import {
  decodeKeepAlive,
  encodeKeepAlive,
  type RpcStatus,
  type StreamCall,
  type StreamHandler,
  statusOf,
  WireError,
} from '@engram/wire';
import { RpcCaller } from './rpc-caller.ts';
import type { ServiceParts } from './service-parts.ts';

/** Renewals of one stream that may wait behind one: for leases that are about to end, and at a follower for the leader. */
const WAITING_MAX = 10_000;

function endWith(span: Span, ttl: number | Promise<number>): void {
  if (typeof ttl === 'number') span.end();
  else
    ttl.then(
      () => span.end(),
      (error: unknown) => span.end(error),
    );
}

const tooManyWaiting: RpcStatus = {
  code: GrpcCode.UNAVAILABLE,
  message: 'etcdserver: keepalive stream closed: too many waiting answers',
};

/** A renewal whose answer waits. */
class WaitingRenewal {
  readonly id: LeaseId;
  readonly header: Uint8Array;
  readonly askedMs: number;
  /** Undefined until the store has answered. */
  #ttlSeconds: number | undefined;
  #failure: { readonly reason: unknown } | undefined;
  /** Resolves when the store has answered. */
  readonly #answered: Promise<void> | undefined;

  constructor(id: LeaseId, header: Uint8Array, askedMs: number, ttlSeconds: number | Promise<number>) {
    this.id = id;
    this.header = header;
    this.askedMs = askedMs;
    if (typeof ttlSeconds === 'number') this.#ttlSeconds = ttlSeconds;
    else {
      // Its turn may come long after it has failed.
      this.#answered = ttlSeconds.then(
        (there) => {
          this.#ttlSeconds = there;
        },
        (reason: unknown) => {
          this.#failure = { reason };
        },
      );
    }
  }

  /** A part of a job. Throws what the store refused with. */
  *ttlSeconds(): Job<number> {
    if (this.#ttlSeconds === undefined && this.#failure === undefined) yield this.#answered;
    if (this.#failure !== undefined) throw this.#failure.reason;
    return this.#ttlSeconds!;
  }
}

/** A stream of renewals. Each gets one answer, in order, although a renewal may have to wait until its lease is gone. */
export class KeepAliveCall implements StreamHandler {
  readonly #parts: ServiceParts;
  readonly #call: StreamCall;
  readonly #caller: Caller;
  readonly #task: Task;
  /** Below the judge of reads, because the leader judges renewals. */
  readonly #store: Store;
  readonly #users: AuthView;
  /** Behind the one that is being answered. */
  readonly #waiting = new Fifo<WaitingRenewal>();
  #answering = false;
  #halfClosed = false;
  #ended = false;

  constructor(parts: ServiceParts, call: StreamCall) {
    this.#parts = parts;
    this.#call = call;
    this.#caller = new RpcCaller(call);
    this.#task = { work: 'client', caller: call.client, stage: 'renewals', method: call.method };
    this.#store = parts.options.store;
    this.#users = parts.auth.view;
  }

  message(request: Uint8Array): void {
    if (this.#ended) return;
    // Each renewal is judged by who the client is now.
    if (this.#users.enabled) this.#parts.auth.admit(this.#call);
    try {
      this.#renew(decodeKeepAlive(request));
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      this.#end(statusOf(error, 'stream'));
    }
  }

  #renew(id: LeaseId): void {
    if (this.#call.queuedBytes > this.#parts.limits.streamQueueBytesMax || this.#waiting.length === WAITING_MAX) {
      this.#end(tooManyWaiting);
      return;
    }
    // Read before the renewal: if the lease ended right after, the answer must not show a revision at or after that end.
    const header = this.#parts.headerBytes(this.#store.revision);
    const renewing = this.#call.span?.child('lease_renew', { id: String(id) });
    const ttl = this.#store.leaseKeepAlive(id, this.#caller);
    if (renewing !== undefined) endWith(renewing, ttl);
    if (typeof ttl === 'number' && !this.#answering) this.#call.send(encodeKeepAlive(header, id, ttl));
    else this.#answerInTurn(new WaitingRenewal(id, header, this.#parts.options.clock.nowMs(), ttl));
  }

  #answerInTurn(renewal: WaitingRenewal): void {
    this.#waiting.push(renewal);
    if (this.#answering) return;
    this.#answering = true;
    // As a job: a follower has the answers of thousands of renewals at once.
    void this.#parts.loop.run(this.#task, this.#answers());
  }

  *#answers(): Job<void> {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      let ttlSeconds: number;
      try {
        ttlSeconds = yield* this.#inTurn(next);
      } catch (error) {
        this.#end(statusOf(error));
        return;
      }
      if (this.#ended) return;
      this.#call.send(encodeKeepAlive(next.header, next.id, ttlSeconds));
      if (this.#parts.loop.shouldYield()) yield;
    }
    this.#answering = false;
    if (this.#halfClosed) this.#end();
  }

  /** Renews again what has waited for longer than its lease lives. */
  *#inTurn(renewal: WaitingRenewal): Job<number> {
    const seconds = yield* renewal.ttlSeconds();
    const mayHaveEnded = seconds > 0 && this.#parts.options.clock.nowMs() - renewal.askedMs >= seconds * 1000;
    if (!mayHaveEnded || this.#ended) return seconds;
    return yield* settled(this.#store.leaseKeepAlive(renewal.id, this.#caller));
  }

  halfClosed(): void {
    this.#halfClosed = true;
    if (!this.#answering) this.#end();
  }

  drained(): void {}

  closed(): void {
    this.#ended = true;
  }

  #end(...status: Parameters<StreamCall['end']>): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#call.end(...status);
  }
}
