import { type AuthChange, encodeAuthRecord, FIRST_AUTH_REVISION } from '@engram/auth';
import type {
  Alarm,
  Caller,
  CommittedWrite,
  LeaseDetails,
  LeaseView,
  Login,
  Proposals,
  Replica,
  TxnResult,
} from '@engram/backend';
import { CONFIRMED_WITHIN_MS, nodeItself, recallDecided, recallTxn } from '@engram/backend';
import {
  type Clock,
  encodeTraceContext,
  EngramError,
  type Epoch,
  isEngramError,
  type LeaseId,
  type LogPosition,
  logPosition,
  type Random,
  type Revision,
  revision,
  SequenceRing,
  type Txn,
  sleep,
} from '@engram/core';
import { Inbox, type Task } from '@engram/loop';
import { encodeTxn } from '@engram/wire';
import type { AppliedPositions } from './applied-positions.ts';
import { AskedLeader } from './asked-leader.ts';
import * as peerpb from './gen/peerpb.ts';
import { leaderError, leaseOf, present, readable, readAnswer } from './leader-answer.ts';
import { WRITES_OF_A_LIFE } from './kept-answers.ts';
import type { KnownLeader, Leader } from './known-leader.ts';
import { PeerError, type Peers } from './peers.ts';
import { txnResultOf } from './txn-result-form.ts';

export interface RemoteLeaderOptions {
  readonly memberId: bigint;
  /** The epoch of this member's election now. */
  readonly epoch: () => Epoch;
  readonly peers: Peers;
  readonly leader: KnownLeader;
  readonly replica: Replica;
  readonly applied: AppliedPositions;
  readonly clock: Clock;
  readonly random: Random;
  /** Bound on a call: etcd's request timeout. */
  readonly timeoutMs: number;
  /** See `confirmedLately`. */
  readonly confirmedWithinMs?: number | undefined;
}

/** A write that is forwarded to a leader. */
interface ForwardedWrite {
  /** The write, once this member has applied it from the log. */
  found: CommittedWrite | undefined;
}

/** A renewal that waits for the leader's answer. */
interface Renewal {
  readonly id: LeaseId;
  readonly caller: Who;
  /** After that it is not asked for again. */
  readonly untilMs: number;
  /** It was asked for again because its answer came late. */
  readonly wasLate: boolean;
  readonly resolve: (ttlSeconds: number) => void;
  readonly reject: (error: unknown) => void;
}

/** What has become of a renewal that the leader was asked for, `alone` or with others. */
type RenewalAnswer =
  | {
      readonly one: Renewal;
      readonly renewal: peerpb.Renewal;
      readonly tookMs: number;
      readonly alone: boolean;
    }
  | { readonly one: Renewal; readonly error: unknown };

const RENEWALS: Task = { work: 'client', caller: 'leader', stage: 'renewals' };
const FORWARDED_MIN = 64;
/** The pause between two tries. */
const RETRY_MS = 50;

/**
 * Forwards requests of this member's clients to the leader. A write that was not sent waits for a leader. A write that was
 * sent and not answered is settled exactly once. While the same epoch lasts, it is sent again under its number, and the
 * leader does each number once. In a later epoch, also of the same member, the log up to the beginning of that epoch shows
 * whether the write is there.
 */
export class RemoteLeader implements Proposals {
  readonly #options: RemoteLeaderOptions;
  readonly #asked: AskedLeader;
  readonly #forwarded = new SequenceRing<ForwardedWrite>(FORWARDED_MIN);
  #sequence: number;
  #renewals: Renewal[] = [];
  /** Answers to renewals. Each settles a promise, and many come in one. */
  readonly #renewed: Inbox<RenewalAnswer>;

  constructor(options: RemoteLeaderOptions) {
    this.#options = options;
    this.#asked = new AskedLeader(options.peers, options.leader, options.clock);
    this.#renewed = new Inbox(options.replica.loop, RENEWALS, (answer) => this.#endRenewal(answer));
    // Not the numbers of an earlier life of this member: the log may still bring writes of that life.
    this.#sequence = (options.random.uint32() & 0xf_ffff) * WRITES_OF_A_LIFE;
    options.replica.onForwarded = (write) => {
      if (write.origin?.memberId !== options.memberId) return;
      const forwarded = this.#forwarded.get(write.origin.sequence);
      if (forwarded !== undefined) forwarded.found = write;
    };
  }

  async txn(txn: Txn, caller: Caller): Promise<TxnResult> {
    const { replica } = this.#options;
    const outcome = await this.#write({ txn: encodeTxn(txn), recalls: true }, caller);
    if (outcome.kind === 'found') return recallTxn(txn, outcome.write, replica, caller);
    const { txn: form, recallAfter } = outcome.answer;
    const result = readable(() => txnResultOf(present(form, 'transaction'), txn));
    return recallAfter === 0 ? result : recallDecided(txn, result, revision(recallAfter), replica, caller);
  }

  async compact(wanted: number, _physical: boolean, caller: Caller): Promise<void> {
    await this.#write({ compact: { revision: wanted } }, caller);
  }

  async leaseGrant(id: LeaseId, ttlSeconds: number, caller: Caller): Promise<LeaseView> {
    const outcome = await this.#write({ leaseGrant: { id, ttlSeconds } }, caller);
    if (outcome.kind === 'found') {
      const { mark } = outcome.write;
      // Numbers are drawn at random at each start, so an earlier life of this member may have used this one.
      if (mark?.kind !== 'lease-grant') throw new EngramError('Timeout');
      return { id: mark.id, grantedTtlSeconds: mark.ttlSeconds, remainingSeconds: mark.ttlSeconds };
    }
    return readable(() => present(leaseOf(outcome.answer), 'lease'));
  }

  async leaseRevoke(id: LeaseId, caller: Caller): Promise<Revision> {
    const outcome = await this.#write({ leaseRevoke: { id } }, caller);
    if (outcome.kind === 'answered') return revision(outcome.answer.revision);
    return outcome.write.group?.revision ?? this.#options.replica.revision;
  }

  /** All renewals of a turn go in one call, or in one for each user: the leader judges the rights of each. */
  leaseKeepAlive(id: LeaseId, { isNode, user, authRevision }: Caller): Promise<number> {
    const { clock, timeoutMs } = this.#options;
    const untilMs = clock.nowMs() + timeoutMs;
    return new Promise((resolve, reject) => {
      this.#renewals.push({ id, caller: { isNode, user, authRevision }, untilMs, wasLate: false, resolve, reject });
      if (this.#renewals.length > 1) return;
      this.#options.clock.soon(() => {
        const renewals = this.#renewals;
        this.#renewals = [];
        for (const ofOne of byCaller(renewals)) void this.#renew(ofOne);
      });
    });
  }

  /** Each renewal succeeds or fails for itself. One that takes longer than the others is asked for alone. */
  async #renew(waiting: readonly Renewal[]): Promise<void> {
    const { clock } = this.#options;
    const askedMs = clock.nowMs();
    try {
      const ids = waiting.map(({ id }) => id);
      const caller: Asking = { ...waiting[0]!.caller, timeoutMs: undefined };
      const { renewals } = await this.ask({ leaseKeepAlive: { ids } }, caller);
      const tookMs = clock.nowMs() - askedMs;
      const alone = waiting.length === 1;
      const answers = readable(() =>
        waiting.map((one, at) => ({ one, renewal: present(renewals[at], 'renewal'), tookMs, alone })),
      );
      this.#renewed.take(answers);
    } catch (error) {
      this.#renewed.take(waiting.map((one) => ({ one, error })));
    }
  }

  #endRenewal(answer: RenewalAnswer): void {
    const { one } = answer;
    if ('error' in answer) {
      one.reject(answer.error);
      return;
    }
    const { renewal, tookMs, alone } = answer;
    // A leader puts off only what was asked for with others.
    if (renewal.later && !alone) void this.#renew([one]);
    else if (renewal.later) one.reject(new EngramError('Unknown'));
    else if (renewal.error !== '') one.reject(leaderError(renewal));
    else if (renewal.ttlSeconds > 0 && this.#mayHaveEnded(one, renewal.ttlSeconds, tookMs)) this.#renewAgain(one);
    else one.resolve(renewal.ttlSeconds);
  }

  /**
   * The answer has taken longer than the lease lives from its renewal on. Or so long that the leader may have slept with the answer
   * in its process, while another one revoked the lease: see `confirmedLately`. That is asked once, since the leader may be slow.
   */
  #mayHaveEnded({ wasLate }: Renewal, ttlSeconds: number, tookMs: number): boolean {
    const { confirmedWithinMs = CONFIRMED_WITHIN_MS } = this.#options;
    return ttlSeconds * 1000 <= tookMs || (tookMs > confirmedWithinMs && !wasLate);
  }

  #renewAgain(late: Renewal): void {
    if (this.#options.clock.nowMs() < late.untilMs) void this.#renew([{ ...late, wasLate: true }]);
    else late.reject(new EngramError('Timeout'));
  }

  async leaseTimeToLive(id: LeaseId, keys: boolean, caller: Caller): Promise<LeaseDetails | undefined> {
    return leaseOf(await this.ask({ leaseTimeToLive: { id, keys } }, caller, caller.signal));
  }

  async activateAlarm({ memberId, alarm }: Alarm, caller: Caller): Promise<void> {
    await this.#write({ alarm: { member: memberId, alarm, active: true } }, caller);
  }

  async deactivateAlarm({ memberId, alarm }: Alarm, caller: Caller): Promise<boolean> {
    const outcome = await this.#write({ alarm: { member: memberId, alarm, active: false } }, caller);
    return outcome.kind === 'found' || outcome.answer.changed;
  }

  async changeAuth(change: AuthChange, caller: Caller): Promise<void> {
    const record = encodeAuthRecord({ revision: FIRST_AUTH_REVISION, change });
    await this.#write({ authChange: { record } }, caller);
  }

  async logIn(login: Login, caller: Caller): Promise<void> {
    await this.#write({ login }, caller);
  }

  /**
   * A call that may be repeated as often as needed. Resolves when this node has applied what the answer rests on. Rejects
   * with the signal's reason if that aborts; without a signal it goes on to the caller's deadline.
   */
  ask(call: peerpb.RequestInit, caller: Asking, signal?: AbortSignal): Promise<peerpb.Answer> {
    return forwarding(call, caller, (asking) => this.#ask(call, asking, signal));
  }

  async #ask(call: peerpb.RequestInit, asking: Asking, signal: AbortSignal | undefined): Promise<peerpb.Answer> {
    const { leader, clock } = this.#options;
    const deadlineMs = this.#deadlineMs(asking);
    for (;;) {
      const known = await leader.when(() => true, deadlineMs, signal);
      const answer = await this.#try(known, this.#request(call, asking, 0), deadlineMs, signal);
      if (answer !== undefined) return this.#whenApplied(answer, deadlineMs);
      await this.#pause(clock, deadlineMs);
    }
  }

  /**
   * The end of the log according to this leader, which a quorum has confirmed. Everything before it has taken effect at the
   * leader. Undefined if the leader does not answer or no longer leads.
   */
  async endOf(known: Leader, signal: AbortSignal): Promise<LogPosition | undefined> {
    try {
      const answer = await this.#readIndexOf(known, signal);
      return answer === undefined || answer.error !== '' ? undefined : logPosition(answer.position);
    } catch (error) {
      if (isEngramError(error, 'Unknown')) return undefined; // it cannot be read
      throw error;
    }
  }

  #readIndexOf(known: Leader, signal: AbortSignal): Promise<peerpb.Answer | undefined> {
    return this.#try(known, this.#request({ readIndex: {} }, nodeItself, 0), this.#deadlineMs(nodeItself), signal);
  }

  /** Whether a quorum has confirmed that `known` leads in an epoch after `mine`. False also if it does not answer. */
  async leadsAfter(mine: Epoch, known: Leader, signal: AbortSignal): Promise<boolean> {
    const answer = await this.#readIndexOf(known, signal);
    return answer !== undefined && answer.error === '' && answer.epoch > mine;
  }

  /** A call that changes something. It is not repeated if its answer is lost: TimeoutDueToConnectionLost then. */
  forward(call: peerpb.RequestInit, caller: Caller): Promise<peerpb.Answer> {
    return forwarding(call, caller, (asking) => this.#forward(call, asking, caller.signal));
  }

  async #forward(call: peerpb.RequestInit, asking: Asking, signal: AbortSignal): Promise<peerpb.Answer> {
    const { clock } = this.#options;
    const deadlineMs = this.#deadlineMs(asking);
    for (;;) {
      const known = await this.#leaderOfWrite(deadlineMs, signal);
      try {
        const bytes = await this.#asked.call(known, this.#request(call, asking, 0), deadlineMs, signal);
        const answer = readAnswer(bytes);
        if (!isNotLeader(answer)) return await this.#whenApplied(answer, deadlineMs);
      } catch (error) {
        if (!(error instanceof PeerError)) throw error;
        if (error.fault === 'lost') throw new EngramError('TimeoutDueToConnectionLost', { cause: error });
      }
      await this.#pause(clock, deadlineMs);
    }
  }

  async #write(call: peerpb.RequestInit, caller: Caller): Promise<Outcome> {
    const deadlineMs = this.#deadlineMs(caller);
    this.#sequence += 1;
    const sequence = this.#sequence;
    const forwarded: ForwardedWrite = { found: undefined };
    this.#forwarded.put(sequence, forwarded);
    try {
      return await forwarding(call, caller, (asking) =>
        this.#settle(sequence, forwarded, { call, asking, caller, deadlineMs }),
      );
    } finally {
      this.#forwarded.remove(sequence);
    }
  }

  async #settle(
    sequence: number,
    forwarded: ForwardedWrite,
    { call, asking, caller, deadlineMs }: Wanted,
  ): Promise<Outcome> {
    const { leader, clock } = this.#options;
    /** The leader that may have the write. Undefined if no leader can have it. */
    let sentTo: Leader | undefined;
    for (let tries = 0; ; tries += 1) {
      // A caller that gives up after the write was sent does not learn its outcome. Before that, nothing has happened. Its
      // signal costs as much as a good part of a write, so a write that has a leader at once does without.
      const known =
        (tries === 0 ? leader.current : undefined) ?? (await this.#leaderOfWrite(deadlineMs, caller.signal));
      if (sentTo !== undefined && known.epoch > sentTo.epoch) {
        if (!(await this.#caughtUpWith(known, sentTo, deadlineMs, caller))) continue;
        if (forwarded.found !== undefined) return { kind: 'found', write: forwarded.found };
        sentTo = undefined;
      }
      try {
        const request = this.#request(call, asking, sequence, known.epoch);
        const answer = readAnswer(await this.#asked.call(known, request, deadlineMs));
        // The leader ended before it knew the outcome of the write.
        if (answer.error === 'Stopped' || answer.error === 'TimeoutDueToLeaderFail') sentTo = known;
        else if (!isNotLeader(answer)) return { kind: 'answered', answer: await this.#whenApplied(answer, deadlineMs) };
      } catch (error) {
        if (!(error instanceof PeerError)) throw error;
        if (error.fault === 'lost') sentTo = known;
      }
      await this.#pause(clock, deadlineMs);
    }
  }

  /** If no leader comes, a change ends by its timeout, as in etcd: NoLeader is for requests that need no proposal. */
  async #leaderOfWrite(deadlineMs: number, signal: AbortSignal): Promise<Leader> {
    try {
      return await this.#options.leader.when(() => true, deadlineMs, signal);
    } catch (error) {
      throw isEngramError(error, 'NoLeader') ? new EngramError('Timeout', { cause: error }) : error;
    }
  }

  /**
   * Asks a later leader how far it has applied the log, and waits until this node has applied as much. All writes of the
   * earlier leader lie before that position. False if the later leader did not answer.
   */
  async #caughtUpWith(known: Leader, earlier: Leader, deadlineMs: number, caller: Caller): Promise<boolean> {
    const answer = await this.#try(known, this.#request({ readIndex: {} }, caller, 0), deadlineMs, caller.signal);
    if (answer === undefined || answer.epoch <= earlier.epoch) {
      await this.#pause(this.#options.clock, deadlineMs);
      return false;
    }
    await this.#whenApplied(answer, deadlineMs);
    return true;
  }

  /** Undefined if this leader gives no answer: the caller may try again. */
  async #try(
    to: Leader,
    request: Uint8Array,
    deadlineMs: number,
    signal: AbortSignal | undefined,
  ): Promise<peerpb.Answer | undefined> {
    try {
      const answer = readAnswer(await this.#asked.call(to, request, deadlineMs, signal));
      // A leader that stops has not answered: the next leader will.
      return isNotLeader(answer) || answer.error === 'Stopped' ? undefined : answer;
    } catch (error) {
      if (error instanceof PeerError) return undefined;
      throw error;
    }
  }

  /**
   * Waits until this node has applied what the answer rests on. Throws the leader's error then, or at the deadline: as in etcd, what
   * a refusal rests on is in effect here before it is told.
   */
  #whenApplied(answer: peerpb.Answer, deadlineMs: number): peerpb.Answer | Promise<peerpb.Answer> {
    const { applied, clock } = this.#options;
    const reached = applied.reach(logPosition(answer.position), Math.max(0, deadlineMs - clock.nowMs()));
    if (answer.error !== '') return refused(leaderError(answer), reached);
    return reached === undefined ? answer : reached.then(() => answer);
  }

  #request(call: peerpb.RequestInit, caller: Asking, sequence: number, epoch = 0): Uint8Array {
    const settled = this.#forwarded.isEmpty ? this.#sequence + 1 : this.#forwarded.first;
    const { memberId: member } = this.#options;
    const { isNode: node = false, user, authRevision, timeoutMs = 0, trace } = caller;
    const sentIn = this.#options.epoch();
    const said = { ...call, member, sequence, settled, node, user, authRevision, timeoutMs, epoch, sentIn };
    return peerpb.encodeRequest(trace === undefined ? said : { ...said, trace: encodeTraceContext(trace) });
  }

  #deadlineMs({ timeoutMs }: Asking): number {
    const { clock, timeoutMs: most } = this.#options;
    return clock.nowMs() + Math.min(timeoutMs ?? most, most);
  }

  async #pause(clock: Clock, deadlineMs: number): Promise<void> {
    if (clock.nowMs() >= deadlineMs) throw new EngramError('Timeout');
    await sleep(clock, RETRY_MS);
  }
}

/** The leader has judged, so a state that comes too late changes nothing. */
async function refused(error: EngramError, reached: Promise<void> | undefined): Promise<never> {
  await reached?.catch(() => {});
  throw error;
}

/** What a leader is told of a caller. */
type Asking = Who & Pick<Caller, 'timeoutMs' | 'trace' | 'span'>;
type Who = Pick<Caller, 'isNode' | 'user' | 'authRevision'>;

/** In lists of one caller each. While no user counts there is one list. */
function byCaller(renewals: readonly Renewal[]): Iterable<readonly Renewal[]> {
  const lists = new Map<string, Renewal[]>();
  for (const renewal of renewals) {
    const { isNode = false, user, authRevision } = renewal.caller;
    const name = `${isNode} ${authRevision} ${user}`;
    const list = lists.get(name);
    if (list === undefined) lists.set(name, [renewal]);
    else list.push(renewal);
  }
  return lists.values();
}

interface Wanted {
  readonly call: peerpb.RequestInit;
  readonly asking: Asking;
  readonly caller: Caller;
  readonly deadlineMs: number;
}

/** A call that is recorded has a span of its own for its way to the leader and back, with all tries. The leader's part belongs to it. */
async function forwarding<Result>(
  call: peerpb.RequestInit,
  caller: Asking,
  send: (asking: Asking) => Promise<Result>,
): Promise<Result> {
  if (caller.span === undefined) return send(caller);
  const { isNode, user, authRevision, timeoutMs } = caller;
  const span = caller.span.child('forward', { call: Object.keys(call)[0] ?? '' }, 'client');
  try {
    const result = await send({ isNode, user, authRevision, timeoutMs, trace: span.context });
    span.end();
    return result;
  } catch (error) {
    span.end(error);
    throw error;
  }
}

type Outcome =
  | { readonly kind: 'answered'; readonly answer: peerpb.Answer }
  /** The leader gave no answer, but the log has the write. */
  | { readonly kind: 'found'; readonly write: CommittedWrite };

/** True if the write is not in the log and never will be: another leader may be asked. */
const isNotLeader = ({ error }: peerpb.Answer): boolean =>
  error === 'NotLeader' || error === 'NoLeader' || error === 'LeaderChanged';
