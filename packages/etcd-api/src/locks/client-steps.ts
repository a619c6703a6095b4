import { KeyAccess } from '@engram/auth';
import type { RangeResult, TxnResult } from '@engram/backend';
import {
  EngramError,
  type ErrorCode,
  EVENT_DELETE,
  EVENT_PUT,
  GrpcCode,
  isEngramError,
  type KvEvent,
  type LeaseId,
  leaseId,
  pointRange,
  type RangeOp,
  type Revision,
  revision,
  type Txn,
} from '@engram/core';
import {
  type CallContext,
  encodeTxn,
  type etcdserverpb,
  type Init,
  type Message,
  type Method,
  StatusError,
} from '@engram/wire';
import type { CallAdmission } from '../call-admission.ts';
import { checkRequestSize } from '../request-size.ts';
import { RpcCaller } from '../rpc-caller.ts';
import type { ServiceParts } from '../service-parts.ts';
import { checkTxn } from '../txn-check.ts';
import { RangeWatch, type WatchedRange } from './range-watch.ts';

/** Of a lease that a call grants (etcd client/v3/concurrency: defaultSessionTTL). Nobody keeps it alive. */
const LEASE_TTL_SECONDS = 60;
const neverAborted = new AbortController().signal;

/**
 * What a call of Lock or Election does in the store, step by step, as its client would do it with the other services: each step is
 * judged by who the client is then, and refused with the errors of that service.
 */
export class ClientSteps {
  readonly #parts: ServiceParts;
  readonly #call: CallContext;
  readonly #signal: AbortSignal;

  /** `signal` stands for the call's own, if the call may end earlier. */
  constructor(parts: ServiceParts, call: CallContext, signal: AbortSignal = call.signal) {
    this.#parts = parts;
    this.#call = call;
    this.#signal = signal;
  }

  /** Aborts when the call is over. */
  get signal(): AbortSignal {
    return this.#signal;
  }

  header(at: Revision): Init<etcdserverpb.ResponseHeader> {
    return this.#parts.header(at);
  }

  /** Resolves when it is known whether the client's token counts. Undefined: it is known. To be awaited before the first step. */
  ready(): Promise<unknown> | undefined {
    const { auth } = this.#parts;
    return auth.enabled ? auth.ready(this.#call) : undefined;
  }

  async grantLease(): Promise<LeaseId> {
    const { id } = await this.#parts.store.leaseGrant(leaseId(0n), LEASE_TTL_SECONDS, this.#caller());
    return id;
  }

  /** The transaction has been decided when this returns, if the leader is here: later calls of the client come behind it. */
  write(txn: Txn): Promise<TxnResult> {
    return this.#write(txn, this.#caller());
  }

  /**
   * Makes `cleanup` when the call ends before the result is disposed: at once, so that what the client asks for next comes behind it. The
   * cleanup itself goes on.
   */
  whenCutOff(cleanup: Txn): CutOff {
    return new CutOff(this.#signal, () => this.#clear(cleanup));
  }

  /** What refuses it is dropped. */
  async #clear(cleanup: Txn): Promise<void> {
    try {
      await this.#write(cleanup, this.#caller(neverAborted));
    } catch (error) {
      if (!isEngramError(error)) throw error;
      this.#parts.logger.info({ error: error.message }, 'a key of a lock or an election stays until its lease ends');
    }
  }

  #write(txn: Txn, caller: RpcCaller): Promise<TxnResult> {
    const { limits, store } = this.#parts;
    checkTxn(txn, limits.maxTxnOps);
    checkRequestSize(encodeTxn(txn), limits.maxRequestBytes);
    return store.txn(txn, caller);
  }

  async read(op: RangeOp): Promise<RangeResult> {
    return await this.#parts.store.range(op, this.#caller());
  }

  /** Resolves when the key, which was there at a revision, is deleted. Does not count as running meanwhile. */
  async untilDeleted(key: Uint8Array, at: Revision, besideBytes: number): Promise<void> {
    using watch = this.watch({ range: pointRange(key), startRevision: revision(at + 1), noPut: true }, besideBytes);
    if (await this.waitFor(nextDelete(watch))) return;
    switch (watch.end) {
      case 'compacted':
        return; // the caller looks again
      case 'denied':
        throw new EngramError('PermissionDenied');
      case 'left':
        throw new EngramError('Canceled');
      default:
        throw new StatusError(GrpcCode.UNKNOWN, 'lost watcher waiting for delete');
    }
  }

  /** Awaits what other clients do. The call does not count as running meanwhile. */
  async waitFor<Result>(others: Promise<Result>): Promise<Result> {
    this.#call.waits?.(true);
    try {
      return await others;
    } finally {
      this.#call.waits?.(false);
    }
  }

  /**
   * Judged as a watch of its own: the client may have lost the right since the read before it, where its stream had no room meanwhile.
   * From then on `WatchRights` judges it.
   */
  watch(watched: WatchedRange, besideBytes: number): RangeWatch {
    const caller = this.#caller();
    const { view } = this.#parts.auth;
    const refusal = view.enabled ? new KeyAccess(view.state, caller).watch(watched.range) : undefined;
    if (refusal !== undefined) throw new EngramError(refusal);
    return new RangeWatch(this.#parts, caller, watched, besideBytes);
  }

  #caller(signal: AbortSignal = this.#signal): RpcCaller {
    const { auth } = this.#parts;
    if (auth.enabled) auth.admit(this.#call);
    return new RpcCaller(this.#call, signal);
  }
}

/** A cleanup that is made at most once. */
export class CutOff implements Disposable {
  readonly #signal: AbortSignal;
  readonly #clear: () => Promise<void>;
  readonly #aborted = (): void => void this.clear();
  #cleared: Promise<void> | undefined;

  constructor(signal: AbortSignal, clear: () => Promise<void>) {
    this.#signal = signal;
    this.#clear = clear;
    if (signal.aborted) this.#aborted();
    else signal.addEventListener('abort', this.#aborted, { once: true });
  }

  /** Resolves when it is made. */
  clear(): Promise<void> {
    this.#cleared ??= this.#clear();
    return this.#cleared;
  }

  /** Whether the call was cut off. */
  get happened(): boolean {
    return this.#signal.aborted;
  }

  [Symbol.dispose](): void {
    this.#signal.removeEventListener('abort', this.#aborted);
  }
}

export const isDelete = ({ type }: KvEvent): boolean => type === EVENT_DELETE;
export const isPut = ({ type }: KvEvent): boolean => type === EVENT_PUT;

/**
 * etcd's client knows these by no text of theirs, or they are those of the call itself. So they keep their code where etcd's Lock and
 * Election pass them on. All others become UNKNOWN with their text (etcd client/v3/client.go: ContextError).
 */
const passedOn: ReadonlySet<ErrorCode> = new Set([
  'Canceled',
  'DeadlineExceeded',
  'TimeoutWaitAppliedIndex',
  'ResponseTooLarge',
  'TimestampsWentBack',
]);

/** Makes the unary methods of Lock and Election. It is known who the client is before the first step. */
export function methodOfSteps(parts: ServiceParts, admission: CallAdmission) {
  return <Request>(
    decode: (bytes: Uint8Array) => Request,
    handle: (steps: ClientSteps, request: Request) => Promise<Message>,
  ): Method =>
    admission.unary((request, call) => {
      const decoded = decode(request);
      const steps = new ClientSteps(parts, call);
      return answerOf(steps, () => handle(steps, decoded));
    });
}

/** Errors as etcd's client passes them on to the service that has made it. Where nothing is to be waited for, `handle` begins now. */
async function answerOf(steps: ClientSteps, handle: () => Promise<Message>): Promise<Message> {
  try {
    const ready = steps.ready();
    if (ready !== undefined) await ready;
    return await handle();
  } catch (error) {
    if (!isEngramError(error) || passedOn.has(error.code)) throw error;
    throw new StatusError(GrpcCode.UNKNOWN, error.message, { cause: error });
  }
}

/** Whether the watch has shown a deletion. Otherwise it has ended. */
async function nextDelete(watch: RangeWatch): Promise<boolean> {
  for (let offer = await watch.next(); offer !== undefined; offer = await watch.next()) {
    if (offer.groups.some(({ events }) => events.some(isDelete))) return true;
  }
  return false;
}
