import { type AuthChange, type AuthInfo, type AuthState, type KeyAccess, refuseMovedRevision } from '@engram/auth';
import {
  type Alarm,
  accessAtOnce,
  accessOf,
  type AuthView,
  type Caller,
  type HashKvResult,
  isReadOnly,
  type LeaseDetails,
  type LeaseGrant,
  type LeaseView,
  type ListForm,
  type Login,
  type NodeStore,
  type PagedRangeResult,
  permitKeys,
  type RangeResult,
  readsSerializable,
  type Store,
  type StoreImage,
  type StoreStatus,
  type TxnResult,
} from '@engram/backend';
import {
  EngramError,
  keyText,
  type LeaseId,
  type RangeOp,
  type Revision,
  type Txn,
  whenLate,
  whenThere,
} from '@engram/core';
import type { Loop, PureJob, Task } from '@engram/loop';
import type { WatchHub } from '@engram/watch-hub';
import type { CallUser } from '@engram/wire';
import { RpcCaller } from '../rpc-caller.ts';
import type { Authenticator } from './authenticator.ts';

/**
 * The store of the clients. Reads are judged here, by the users and roles of this node: after it has caught up with what the read
 * must see, and once more when the answer is there (etcd: doSerialize). What the leader decides, the leader judges. While
 * authentication is off, a call costs one question more, and no closure: what needs one is a method of its own.
 */
export class AuthorizedStore implements Store {
  readonly #next: NodeStore;
  readonly #auth: Authenticator;
  readonly #loop: Loop;
  /** The rights that the last read was judged by. They are used again as long as the state and the user are the same objects. */
  #last: { readonly state: AuthState; readonly user: CallUser; readonly access: KeyAccess } | undefined;

  constructor(next: NodeStore, auth: Authenticator, loop: Loop) {
    this.#next = next;
    this.#auth = auth;
    this.#loop = loop;
  }

  get revision(): Revision {
    return this.#next.revision;
  }

  get compactRevision(): Revision {
    return this.#next.compactRevision;
  }

  get watchHub(): WatchHub {
    return this.#next.watchHub;
  }

  get auth(): AuthView {
    return this.#next.auth;
  }

  readIndex(caller: Caller): Promise<void> | undefined {
    return this.#next.readIndex(caller);
  }

  range(
    op: RangeOp,
    caller: Caller,
    form: ListForm,
  ): RangeResult | PagedRangeResult | Promise<RangeResult | PagedRangeResult>;
  range(op: RangeOp, caller: Caller): RangeResult | Promise<RangeResult>;
  range(
    op: RangeOp,
    caller: Caller,
    form: ListForm = 'list',
  ): RangeResult | PagedRangeResult | Promise<RangeResult | PagedRangeResult> {
    const free = this.#isFree(caller);
    const wait = op.serializable ? undefined : this.#next.readIndex(caller);
    if (wait !== undefined || !(free || this.#permitsAtOnce(op, caller))) {
      return this.#lateRange(op, caller, form, wait, free);
    }
    const result = this.#next.applied.range(op, caller, form);
    return free ? result : this.#unmovedIfLate(result, caller);
  }

  #lateRange(
    op: RangeOp,
    caller: Caller,
    form: ListForm,
    wait: Promise<void> | undefined,
    free: boolean,
  ): RangeResult | PagedRangeResult | Promise<RangeResult | PagedRangeResult> {
    const read = () => this.#next.applied.range(op, caller, form);
    return this.#whenNewest(wait, free, caller, (judged) =>
      judged ? this.#read(caller, (access) => access.read(op.range), read) : read(),
    );
  }

  async *rangeStream(op: RangeOp, chunkBytes: number, caller: Caller): AsyncGenerator<RangeResult> {
    const free = this.#isFree(caller);
    if (!op.serializable) await this.#next.readIndex(caller);
    const { applied } = this.#next;
    if (this.#isFree(caller)) {
      yield* applied.rangeStream(op, chunkBytes, caller);
      return;
    }
    if (free) await this.#known(caller);
    const info = this.#infoOf(caller);
    await this.#permit(caller, info, (access) => access.read(op.range));
    for await (const chunk of applied.rangeStream(op, chunkBytes, caller)) {
      this.#checkUnmoved(info);
      yield chunk;
    }
  }

  txn(txn: Txn, caller: Caller): Promise<TxnResult> {
    return isReadOnly(txn) ? this.#readTxn(txn, caller) : this.#next.txn(txn, caller);
  }

  async #readTxn(txn: Txn, caller: Caller): Promise<TxnResult> {
    const free = this.#isFree(caller);
    const wait = readsSerializable(txn) ? undefined : this.#next.readIndex(caller);
    if (wait !== undefined) await wait;
    const { applied } = this.#next;
    if (this.#isFree(caller)) return applied.txn(txn, caller);
    if (free) await this.#known(caller);
    return this.#read(
      caller,
      (access) => access.txn(txn, noKeys),
      () => applied.txn(txn, caller),
    );
  }

  compact(revision: number, physical: boolean, caller: Caller): Promise<void> {
    return this.#next.compact(revision, physical, caller);
  }

  leaseGrant(id: LeaseId, ttlSeconds: number, caller: Caller): Promise<LeaseView> {
    return this.#next.leaseGrant(id, ttlSeconds, caller);
  }

  leaseRevoke(id: LeaseId, caller: Caller): Promise<Revision> {
    return this.#next.leaseRevoke(id, caller);
  }

  leaseKeepAlive(id: LeaseId, caller: Caller): number | Promise<number> {
    return this.#next.leaseKeepAlive(id, caller);
  }

  /** Its keys come from this node, so their reading is judged here. */
  async leaseTimeToLive(id: LeaseId, withKeys: boolean, caller: Caller): Promise<LeaseDetails | undefined> {
    const lease = await this.#next.leaseTimeToLive(id, withKeys, caller);
    if (this.#isFree(caller) || lease === undefined || lease.keys.length === 0) return lease;
    await this.#permitReading([...lease.keys].map(keyText), caller);
    return lease;
  }

  /** Needs the right to read every key of every lease (etcd: checkLeaseLeases). */
  async leases(order: 'by-id' | 'by-remaining', caller: Caller): Promise<readonly LeaseGrant[]> {
    const listed = await this.#next.leases(order, caller);
    if (this.#isFree(caller)) return listed;
    await this.#permitReading(this.#keysOf(listed), caller);
    return listed;
  }

  *#keysOf(leases: readonly LeaseGrant[]): Generator<string> {
    for (const { id } of leases) yield* this.#next.keysOfLease(id);
  }

  keysOfLease(id: LeaseId): Iterable<string> {
    return this.#next.keysOfLease(id);
  }

  alarms(): readonly Alarm[] {
    return this.#next.alarms();
  }

  activateAlarm(alarm: Alarm, caller: Caller): Promise<void> {
    return this.#next.activateAlarm(alarm, caller);
  }

  deactivateAlarm(alarm: Alarm, caller: Caller): Promise<boolean> {
    return this.#next.deactivateAlarm(alarm, caller);
  }

  changeAuth(change: AuthChange, caller: Caller): Promise<void> {
    return this.#next.changeAuth(change, caller);
  }

  logIn(login: Login, caller: Caller): Promise<void> {
    return this.#next.logIn(login, caller);
  }

  hashKv(revision: number, signal: AbortSignal): Promise<HashKvResult> {
    return this.#next.hashKv(revision, signal);
  }

  image(signal: AbortSignal): Promise<StoreImage> {
    return this.#next.image(signal);
  }

  defragment(): Promise<void> {
    return this.#next.defragment();
  }

  status(): StoreStatus {
    return this.#next.status();
  }

  /** No user counts for the call. */
  #isFree({ isNode }: Caller): boolean {
    return !this.#auth.enabled || isNode === true;
  }

  /**
   * Reads when `wait` is over, and says whether the caller is judged: it is also if users count only since this node has caught up.
   * `free`: they did not when the call came.
   */
  #whenNewest<Result>(
    wait: Promise<void> | undefined,
    free: boolean,
    caller: Caller,
    read: (judged: boolean) => Result | Promise<Result>,
  ): Result | Promise<Result> {
    if (wait === undefined) return read(!free);
    return wait.then(() => {
      if (this.#isFree(caller)) return read(false);
      const known = free ? this.#known(caller) : undefined;
      return known === undefined ? read(true) : known.then(() => read(true));
    });
  }

  /** Resolves when it is known whether the caller's token counts, which nobody has asked while users did not. */
  #known(caller: Caller): Promise<unknown> | undefined {
    return caller instanceof RpcCaller ? this.#auth.ready(caller.call) : undefined;
  }

  /**
   * Of a read that begins in the call that has admitted its caller, so that this need not be asked again. False if the caller's rights must
   * be joined first. Throws what refuses it.
   */
  #permitsAtOnce({ range }: RangeOp, caller: Caller): boolean {
    const access = this.#accessAtOnce(caller);
    const code = access?.read(range);
    if (code !== undefined) throw new EngramError(code);
    return access !== undefined;
  }

  #accessAtOnce(caller: Caller): KeyAccess | undefined {
    const { state } = this.auth;
    const user = caller instanceof RpcCaller ? caller.call.user : undefined;
    const last = this.#last;
    if (last !== undefined && last.user === user && last.state === state) return last.access;
    const access = accessAtOnce(state, caller);
    // Neither a state nor a user is ever changed: a change makes another object.
    if (access !== undefined && user !== undefined) this.#last = { state, user, access };
    return access;
  }

  /** What is read later than its caller was judged is judged again. A method of its own: its closure would cost a read that ends at once. */
  #unmovedIfLate<Result extends RangeResult | PagedRangeResult>(
    result: Result | Promise<Result>,
    caller: Caller,
  ): Result | Promise<Result> {
    return whenLate(result, (late) => {
      const { user, authRevision } = caller;
      return late.then((there) => this.#unmoved(there, { user, authRevision }));
    });
  }

  /** A read that waits may end after its caller has lost a right. */
  #read<Result extends RangeResult | PagedRangeResult | TxnResult>(
    caller: Caller,
    refusal: Refusal,
    read: () => Result | Promise<Result>,
  ): Result | Promise<Result> {
    const info = this.#infoOf(caller);
    const result = whenThere(this.#permit(caller, info, refusal), read, undefined);
    return whenThere(result, (there) => this.#unmoved(there, info), undefined);
  }

  #unmoved<Result extends RangeResult | PagedRangeResult | TxnResult>(result: Result, info: AuthInfo): Result {
    try {
      this.#checkUnmoved(info);
    } catch (error) {
      if (result.kind === 'paged-range') result.kvs[Symbol.dispose]();
      throw error;
    }
    return result;
  }

  /** A promise if the rights of the caller must be joined first, which takes longer than a slice. */
  #permit(caller: Caller, info: AuthInfo, refusal: Refusal): void | Promise<void> {
    // Nearly always. A job costs as much as the read, and so does the signal that it would be given.
    const access = accessAtOnce(this.auth.state, info);
    if (access !== undefined) return refuseAccess(access, refusal);
    const joining = accessOf(this.auth.state, info, this.#loop);
    return whenThere(this.#loop.run(permitting(caller), joining, caller.signal), refuseAccess, refusal);
  }

  async #permitReading(keys: Iterable<string>, caller: Caller): Promise<void> {
    await this.#known(caller);
    const info = this.#infoOf(caller);
    // As in etcd (checkLeaseLeases): users and roles may not change while keys are judged. A token of an older revision than theirs may
    // still list leases that have no keys.
    const { revision } = this.auth.state;
    await this.#loop.run(permitting(caller), this.#permittingKeys(keys, info), caller.signal);
    if (this.auth.state.revision !== revision) throw new EngramError('AuthOldRevision');
  }

  *#permittingKeys(keys: Iterable<string>, info: AuthInfo): PureJob<void> {
    const access = yield* accessOf(this.auth.state, info, this.#loop);
    if (access === undefined) return;
    const refusal = access.showLeases([]);
    if (refusal !== undefined) throw new EngramError(refusal);
    if (!access.permitsAll) yield* permitKeys(access, 'read', keys, this.#loop);
  }

  /** As of now, as in etcd: a simple token has the rights that its user has when the read is made. */
  #infoOf(caller: Caller): AuthInfo {
    return caller instanceof RpcCaller ? this.#auth.admit(caller.call) : caller;
  }

  #checkUnmoved(info: AuthInfo): void {
    const code = refuseMovedRevision(this.auth.state, info);
    if (code !== undefined) throw new EngramError(code);
  }
}

type Refusal = (access: KeyAccess) => ReturnType<KeyAccess['read']>;

function refuseAccess(access: KeyAccess | undefined, refusal: Refusal): void {
  const code = access && refusal(access);
  if (code !== undefined) throw new EngramError(code);
}

const noKeys = (): readonly Uint8Array[] => [];

const permitting = ({ client = 'node', method }: Caller): Task => ({
  work: 'client',
  caller: client,
  stage: 'permit',
  method,
});
