import { decodeAuthRecord } from '@engram/auth';
import {
  ALARM_CORRUPT,
  ALARM_NOSPACE,
  type Backend,
  type Caller,
  isRecallable,
  CONFIRMED_WITHIN_MS,
  confirmedLately,
  nodeItself,
  type Origin,
  permitRoot,
  type Proposals,
  type TxnResult,
} from '@engram/backend';
import {
  type Clock,
  decodeTraceContext,
  EngramError,
  epoch,
  type ErrorCode,
  isEngramError,
  leaseId,
  type Logger,
  noTracer,
  type Span,
  type TraceContext,
  type Tracer,
  type Txn,
} from '@engram/core';
import { memberId, type Witness } from '@engram/election';
import { checkForwardedTxn, type Member } from '@engram/etcd-api';
import { CoderError } from '@engram/coder';
import { WireError } from '@engram/protobuf';
import { decodeTxn } from '@engram/wire';
import { type Answering, KeptAnswers } from './kept-answers.ts';
import * as peerpb from './gen/peerpb.ts';
import type { PeerCaller } from './peers.ts';
import { txnResultForm } from './txn-result-form.ts';

export interface LeaderCallsOptions {
  /** See `CorruptionCheck.answer`. */
  readonly hashKv: (request: peerpb.HashKv, from: bigint, signal: AbortSignal) => Promise<peerpb.AnswerInit>;
  readonly backend: Backend;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Confirms by a quorum, which may be this node and the witness, that this node leads: see `Store.readIndex`. */
  readonly confirm: (signal: AbortSignal, witness?: Witness) => Promise<void>;
  /** See `ReadIndexOptions`. */
  readonly commitIndex: () => number;
  /** See `confirmedLately`. */
  readonly confirmedWithinMs?: number | undefined;
  /** See `ClusterMemberOptions`. */
  readonly inlineBytesMax?: number | undefined;
  /** Records the calls that other members forward; by default none. */
  readonly tracer?: Tracer | undefined;
  /** Changes of the membership, which only a leader makes. */
  readonly changeMembers: (change: peerpb.MemberChange, signal: AbortSignal) => Promise<readonly Member[]>;
}

/** Errors of all calls of a leadership that has ended. The member asks the next leader. */
const LEADERSHIP_ENDS: ReadonlySet<ErrorCode> = new Set(['LeaderChanged', 'NotLeader', 'NoLeader', 'Stopped']);

/** Refusals that rest on nothing that the log holds. */
const OF_NO_STATE: ReadonlySet<ErrorCode> = new Set(['Timeout', 'TooManyRequests', 'NotCapable', 'Unknown']);

/** The calls of proto/peer that a leader does. */
const CALLS = [
  'txn',
  'compact',
  'leaseGrant',
  'leaseRevoke',
  'leaseKeepAlive',
  'leaseTimeToLive',
  'alarm',
  'readIndex',
  'memberChange',
  'authChange',
  'login',
] as const satisfies readonly (keyof peerpb.Request)[];

/**
 * The leader's work for the other members, and what any member answers: how far it has applied the log.
 *
 * If a connection was lost and the leader is still the same, a member sends its write twice. The leader does it once: it
 * keeps the answer until the member says that it no longer waits for it.
 */
export class LeaderCalls {
  readonly #options: LeaderCallsOptions;
  /** Of the current leadership. */
  #answers = new KeptAnswers();
  /** Room for answers that are being made. */
  readonly #room = { leftBytes: ROOM_BYTES };

  constructor(options: LeaderCallsOptions) {
    this.#options = options;
  }

  /** A leadership begins. The log settles the writes that an earlier leadership was asked for. */
  reset(): void {
    this.#answers = new KeptAnswers();
  }

  /** Never rejects: a request that cannot be read is answered as well, because the member that asks would wait. */
  async call(bytes: Uint8Array, caller: PeerCaller): Promise<Uint8Array> {
    try {
      return await this.#answer(peerpb.decodeRequest(bytes), caller);
    } catch (error) {
      return peerpb.encodeAnswer(this.#refusal(error));
    }
  }

  #answer(request: peerpb.Request, caller: PeerCaller): Answering | Uint8Array {
    const { leadership, replica } = this.#options.backend;
    if (request.applied !== undefined) return peerpb.encodeAnswer({ position: replica.applied, knowsAuth: true });
    if (request.hashKv !== undefined) return this.#hashKv(request.hashKv, caller);
    if (request.member !== caller.member) throw new EngramError('NotCapable'); // its writes would be found by another member
    if (leadership === undefined) return peerpb.encodeAnswer({ error: 'NotLeader' });
    if (request.sequence === 0) return this.#done(request, leadership, caller);
    // An earlier leadership, even one of this member, may have done the write. Only the member that asks can find out.
    if (request.epoch !== leadership.epoch) return peerpb.encodeAnswer({ error: 'NotLeader' });
    // The member that asks may lose the connection and ask again, so no signal of a call ends the write.
    const answer = this.#answers.once(request, () =>
      this.#done(request, leadership, { ...nodeItself, member: caller.member }),
    );
    return answer ?? peerpb.encodeAnswer({ error: 'Stopped' });
  }

  #leadsNow({ signal }: Caller): Promise<void> {
    const { clock, confirm, confirmedWithinMs = CONFIRMED_WITHIN_MS } = this.#options;
    return confirmedLately(clock, confirmedWithinMs, () => confirm(signal));
  }

  async #hashKv(request: peerpb.HashKv, { member, signal }: PeerCaller): Answering {
    return peerpb.encodeAnswer(await this.#options.hashKv(request, member, signal));
  }

  async #done(request: peerpb.Request, proposals: Proposals, peer: PeerCaller): Answering {
    const caller = new ForwardedCaller(request, peer, this.#room, this.#options.inlineBytesMax ?? INLINE_BYTES_MAX);
    const span = this.#begin(request, caller);
    let failure: unknown;
    try {
      const answer = await this.#perform(request, proposals, caller);
      const { backend } = this.#options;
      const { leadership } = backend;
      // The call is done even if the leadership has ended since. Then this node does not know the epoch.
      const epoch = leadership?.epoch ?? 0;
      return peerpb.encodeAnswer({ ...answer, position: backend.replica.applied, epoch });
    } catch (error) {
      failure = error;
      return peerpb.encodeAnswer(this.#refusalOfState(error));
    } finally {
      caller.giveBack();
      span?.end(failure);
    }
  }

  #begin(request: peerpb.Request, caller: ForwardedCaller): Span | undefined {
    const { tracer = noTracer } = this.#options;
    if (tracer === noTracer || !tracer.wants(caller.trace)) return undefined;
    const method = CALLS.find((call) => request[call] !== undefined) ?? 'unknown';
    caller.span = tracer.begin({ method, from: 'member', parent: caller.trace, peer: caller.client });
    return caller.span;
  }

  #refusal(error: unknown): peerpb.AnswerInit & { readonly error: ErrorCode } {
    if (error instanceof WireError || error instanceof CoderError)
      return { error: 'NotCapable', errorText: `etcdserver: ${error.message}` };
    return { error: this.#codeOf(error), errorText: isEngramError(error) ? error.message : '' };
  }

  /** With the position that the member which asks is to reach before it tells the refusal, as for an answer. */
  #refusalOfState(error: unknown): peerpb.AnswerInit {
    const refusal = this.#refusal(error);
    if (LEADERSHIP_ENDS.has(refusal.error) || OF_NO_STATE.has(refusal.error)) return refusal;
    return { ...refusal, position: this.#options.backend.replica.applied };
  }

  /** Another error is for example a record that cannot be read for the answer. The write may be done: its outcome is unknown. */
  #codeOf(error: unknown): ErrorCode {
    if (isEngramError(error)) return error.code;
    this.#options.logger.error({ err: error }, 'a call of another member failed');
    return 'Timeout';
  }

  /** A lease past its time is ended first, which may take long. Unless it is asked for alone, the others do not wait for it. */
  async #renewal(renew: () => number | Promise<number>, alone: boolean): Promise<peerpb.RenewalInit> {
    try {
      const ttlSeconds = renew();
      if (typeof ttlSeconds === 'number' || alone) return { ttlSeconds: await ttlSeconds };
      ttlSeconds.catch(() => {}); // the next request meets the error as well
      return { later: true };
    } catch (error) {
      const refusal = this.#refusal(error);
      if (LEADERSHIP_ENDS.has(refusal.error)) throw error;
      return refusal;
    }
  }

  async #perform(request: peerpb.Request, proposals: Proposals, caller: ForwardedCaller): Promise<peerpb.AnswerInit> {
    const { confirm, commitIndex, changeMembers } = this.#options;
    if (request.txn !== undefined) {
      const txn = decodeTxn(request.txn);
      checkForwardedTxn(txn);
      caller.decides(txn);
      const result: TxnResult = await proposals.txn(txn, caller);
      return { txn: txnResultForm(result), revision: result.revision, recallAfter: result.recallAfter ?? 0 };
    }
    if (request.compact !== undefined) {
      await proposals.compact(request.compact.revision, false, caller);
      return {};
    }
    if (request.leaseGrant !== undefined) {
      const { id, ttlSeconds } = request.leaseGrant;
      const lease = await proposals.leaseGrant(leaseId(id), ttlSeconds, caller);
      return { lease: { ...lease, keys: [] } };
    }
    if (request.leaseRevoke !== undefined) {
      return { revision: await proposals.leaseRevoke(leaseId(request.leaseRevoke.id), caller) };
    }
    if (request.leaseKeepAlive !== undefined) {
      // The client counts the lease's time from the answer. So the leader must lead now, not when the member asked, nor when
      // the others confirmed it: it may have slept since, and the lease may have ended elsewhere.
      await this.#leadsNow(caller);
      const { ids } = request.leaseKeepAlive;
      const renewals = ids.map((id) =>
        this.#renewal(() => proposals.leaseKeepAlive(leaseId(id), caller), ids.length === 1),
      );
      return { renewals: await Promise.all(renewals) };
    }
    if (request.leaseTimeToLive !== undefined) {
      await this.#leadsNow(caller);
      const { id, keys } = request.leaseTimeToLive;
      const lease = await proposals.leaseTimeToLive(leaseId(id), keys, caller);
      return lease === undefined ? {} : { lease: { ...lease, keys: [...lease.keys] } };
    }
    if (request.alarm !== undefined) {
      const { member: memberId, alarm, active } = request.alarm;
      if (!active) return { changed: await proposals.deactivateAlarm({ memberId, alarm }, caller) };
      if (alarm !== ALARM_NOSPACE && alarm !== ALARM_CORRUPT) throw new EngramError('NotCapable');
      await proposals.activateAlarm({ memberId, alarm }, caller);
      return { changed: true };
    }
    if (request.readIndex !== undefined) {
      await confirm(caller.signal, { member: memberId(request.member), epoch: epoch(request.sentIn) });
      return { raftIndex: commitIndex() };
    }
    if (request.memberChange !== undefined) {
      try {
        permitRoot(this.#options.backend.auth.state, caller);
      } catch (error) {
        // A leader that was replaced does not know the newest users and roles.
        await confirm(caller.signal);
        throw error;
      }
      const members = await changeMembers(request.memberChange, caller.signal);
      return { members: members.map(memberForm), raftIndex: commitIndex() };
    }
    if (request.authChange !== undefined) {
      await proposals.changeAuth(decodeAuthRecord(request.authChange.record.slice()).change, caller);
      return {};
    }
    if (request.login !== undefined) {
      const { user, authRevision, digest } = request.login;
      if (digest.length !== DIGEST_BYTES) throw new EngramError('NotCapable');
      await proposals.logIn({ user, authRevision, digest: digest.slice() }, caller);
      return {};
    }
    throw new EngramError('NotCapable');
  }
}

/** Of a simple token: SHA-256. */
const DIGEST_BYTES = 32;

const memberForm = ({ isLearner, peerUrls, clientUrls, ...member }: Member): peerpb.MemberInit => ({
  ...member,
  peerUrls: [...peerUrls],
  clientUrls: [...clientUrls],
  learner: isLearner,
});

/**
 * Bounds on answers with key-values, which share their stream with Raft's messages: of a transaction whose member reads a
 * longer answer from its own replica; of one whose answer cannot be read there (`isRecallable`); of a member that reads none, as
 * members of the version before; and of all answers that are being made, together.
 */
const INLINE_BYTES_MAX = 64 * 1024;
const UNRECALLABLE_BYTES_MAX = 4 * 1024 * 1024;
const OF_OLD_MEMBER_BYTES_MAX = 32 * 1024 * 1024;
const ROOM_BYTES = 64 * 1024 * 1024;

/** The client of another member, for which that member calls. */
class ForwardedCaller implements Caller {
  readonly isNode: boolean;
  readonly user: string;
  readonly authRevision: number;
  readonly timeoutMs: number | undefined;
  readonly origin: Origin | undefined;
  readonly trace: TraceContext | undefined;
  recallAboveBytes: number | undefined;
  span: Span | undefined;
  readonly #peer: PeerCaller;
  readonly #room: { leftBytes: number };
  #bytesMax = OF_OLD_MEMBER_BYTES_MAX;
  #reservedBytes = 0;

  constructor(
    { member, sequence, node, user, authRevision, timeoutMs, recalls, trace }: peerpb.Request,
    peer: PeerCaller,
    room: { leftBytes: number },
    inlineBytesMax: number,
  ) {
    this.isNode = node;
    this.user = user;
    this.authRevision = authRevision;
    this.timeoutMs = timeoutMs === 0 ? undefined : timeoutMs;
    this.origin = sequence === 0 ? undefined : { memberId: member, sequence };
    this.trace = decodeTraceContext(trace);
    this.recallAboveBytes = recalls ? inlineBytesMax : undefined;
    this.#peer = peer;
    this.#room = room;
  }

  get client(): string {
    return `member ${this.#peer.member}`;
  }

  get signal(): AbortSignal {
    return this.#peer.signal;
  }

  /** The transaction that the call is for. Whether its answer can be recalled decides how long it may be. */
  decides(txn: Txn): void {
    if (this.recallAboveBytes === undefined) return;
    if (isRecallable(txn)) this.#bytesMax = Infinity;
    else {
      this.recallAboveBytes = undefined;
      this.#bytesMax = UNRECALLABLE_BYTES_MAX;
    }
  }

  /** An answer that the member recalls is not made here, however long it is. */
  reserveAnswer(bytes: number): boolean {
    if (this.#bytesMax === Infinity) return true;
    if (this.#reservedBytes + bytes > this.#bytesMax || bytes > this.#room.leftBytes) return false;
    this.#reservedBytes += bytes;
    this.#room.leftBytes -= bytes;
    return true;
  }

  /** The answer is made, or there is none. */
  giveBack(): void {
    this.#room.leftBytes += this.#reservedBytes;
    this.#reservedBytes = 0;
  }
}
