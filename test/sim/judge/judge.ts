import { crc32 } from 'node:zlib';
import type { HashKvResult, RangeResult, StoreImage, TxnResult } from '@engram/backend';
import { AssertionError, type ErrorCode, isEngramError, keyText, type RangeOp, type Txn } from '@engram/core';
import {
  evaluateRange,
  evaluateTxn,
  type LoggedWrite,
  ModelError,
  type StateAt,
  type StoreHistory,
} from '@engram/sim/model';
import { StorageTrimmedError, StorageUnavailableError } from '@engram/storage';
import { AccessJudge } from '../users/access-judge.ts';
import { claimsEffect, difference, isVersion, textOfBytes, textOfKv } from './answers.ts';
import { expectThat, Finding } from './finding.ts';
import { type ClockRates, EXACT, LeaseJudge } from './lease-judge.ts';
import { RevokeJudge } from './revoke-judge.ts';
import { makes, textOf, WriteJudge } from './write-judge.ts';

/**
 * A request under way. When it was sent, some client had been told of everything before position `from`. If the node
 * may answer without the others, everything before `from` had taken effect at the node.
 */
export interface Call {
  readonly what: string;
  readonly from: number;
  /** The oldest revision that a transaction reads by its number. */
  readonly readsAt?: number;
  /** On the node's clock. */
  readonly startMs: number;
}

/** Conditions that excuse a refusal. */
export interface Excuses {
  /** The client has cancelled the request. */
  readonly aborted: boolean;
  /** The node stops, has lost its leadership, or has never led. */
  readonly leaderless: boolean;
  /** The node that answers may be stopping. A node answers Stopped only about itself. */
  readonly stopping: boolean;
  /** Storage was told to fail reads. */
  readonly failingReads: boolean;
  /** An image was published without waiting for the node. What it still lists may be gone with the log. */
  readonly forgotten: boolean;
  /** New writes are refused above a bound that this run can reach. */
  readonly narrow: boolean;
  /** The space is bounded. */
  readonly quota: boolean;
  /** A slow client loses its snapshot. */
  readonly impatient: boolean;
  /** Delays that are no faults may add up to the time of a request. */
  readonly slow: boolean;
  /** A leader may answer what nobody can read. */
  readonly lied: boolean;
  /** The time of a request: etcd's five seconds and two election timeouts, or the run's own. */
  readonly timeoutMs: number;
  /** On the node's clock. */
  readonly nowMs: number;
}

/** The meaning of a refusal: the error code if nothing has happened, or an unknown outcome. */
export type Verdict = ErrorCode | 'unknown';

const UNKNOWN: ReadonlySet<ErrorCode> = new Set([
  'Timeout',
  'TimeoutDueToConnectionLost',
  'TimeoutDueToLeaderFail',
  'TimeoutWaitAppliedIndex',
  'Stopped',
  'LeaderChanged',
  'NoLeader',
]);

/** Rounding error of clocks. */
const LATE_SLACK_MS = 1e-3;

/** Whether the alarm CORRUPT is raised at the end of the log. */
export const isCorrupt = (history: StoreHistory): boolean =>
  history.alarmsAt(history.next).some(({ alarm }) => alarm === 2);

/** Judges answers by the log. Each must be the model's answer for a state between the request and the answer. */
export class Judge {
  readonly history: StoreHistory;
  readonly writes: WriteJudge;
  readonly leases: LeaseJudge;
  readonly revokes: RevokeJudge;
  readonly access: AccessJudge;
  readonly #rates: ClockRates;
  /** Some client has been told of everything before this position. */
  #acknowledged = 1;

  constructor(history: StoreHistory, rates: ClockRates = EXACT) {
    this.#rates = rates;
    this.history = history;
    this.writes = new WriteJudge(history);
    this.leases = new LeaseJudge(history, rates);
    this.revokes = new RevokeJudge(this.leases);
    this.access = new AccessJudge(history);
  }

  get acknowledged(): number {
    return this.#acknowledged;
  }

  /** Adds durable records. */
  logged(first: number, records: readonly Uint8Array[]): readonly LoggedWrite[] {
    try {
      const writes = this.history.append(first, records);
      for (const write of writes) this.writes.logged(write);
      return writes;
    } catch (error) {
      if (error instanceof ModelError) throw new Finding('log', error.message);
      throw error;
    }
  }

  /** Checks that the error is allowed now, and returns its meaning. */
  verdict(call: Call, error: unknown, excuses: Excuses): Verdict {
    if (error instanceof AssertionError)
      throw new Finding('broken', `${call.what}: ${error.message}`, { cause: error });
    if (!isEngramError(error)) {
      if (excuses.aborted || excuses.failingReads) return 'unknown';
      throw new Finding('error', `${call.what} failed with ${String(error)}`, { cause: error });
    }
    const unexpected = (): Finding => new Finding('error', `${call.what} failed with ${error.code}`, { cause: error });
    if (error.code === 'Unknown' && excuses.lied) return 'unknown';
    // A member that reads a large answer from its own copy, at the revision before the write or at one that the transaction names, may
    // find that it is compacted by now.
    const { readsAt = Number.POSITIVE_INFINITY } = call;
    const oldest = Math.min(this.history.revisionAt(call.from), readsAt);
    const isGone = error.code === 'TimeoutDueToLeaderFail' && oldest < this.history.compactRevision;
    if (UNKNOWN.has(error.code) && !excuses.leaderless && !isGone && !(error.code === 'Timeout' && excuses.slow))
      throw unexpected();
    if (error.code === 'Stopped' && !excuses.stopping) throw unexpected();
    if (error.code === 'TooManyRequests' && !excuses.narrow && !excuses.impatient) throw unexpected();
    if (error.cause instanceof StorageTrimmedError && !excuses.forgotten)
      throw new Finding('error', `${call.what}: ${error.cause.message}`, { cause: error });
    // Storage that lacks the bytes of an answer, or does not give them, has a time of its own.
    const ofStorage = error.cause instanceof StorageTrimmedError || error.cause instanceof StorageUnavailableError;
    // A liar's calls come in the numbers of its own lives: its leader forgets answers of its clients for them.
    if (error.code === 'Timeout' && !ofStorage && !excuses.lied) this.#checkLate(call, excuses);
    return UNKNOWN.has(error.code) ? 'unknown' : error.code;
  }

  /** A request may only time out once its time is over, by the fastest clock. */
  #checkLate({ what, startMs }: Call, { timeoutMs, nowMs }: Excuses): void {
    const tookMs = nowMs - startMs;
    const leastMs = timeoutMs / this.#rates.fast - LATE_SLACK_MS;
    expectThat(
      tookMs >= leastMs,
      'error',
      () => `${what} timed out after ${tookMs.toFixed(1)} ms, and its time is ${timeoutMs} ms`,
    );
  }

  /** Notes that a client was told of the state at `revision`. */
  told(revision: number): void {
    const write = this.history.writeOf(revision);
    if (write !== undefined) this.tellWrite(write);
  }

  tellWrite(write: LoggedWrite): void {
    this.#acknowledged = Math.max(this.#acknowledged, write.next);
  }

  /** Checks that the revision of an answer is durable, and not older than the revision told before the request. */
  #checkFresh(call: Call, revision: number): void {
    const oldest = this.history.revisionAt(call.from);
    expectThat(
      revision >= oldest && revision <= this.history.revision,
      'answer',
      () => `${call.what} answered at revision ${revision}, not from ${oldest} to ${this.history.revision}`,
    );
  }

  /** A state in the call's window at this revision, with only those compactions of which a client had been told. */
  #stateOf(call: Call, revision: number): StateAt {
    const position = Math.max(call.from, this.history.writeOf(revision)?.next ?? 1);
    return { position, revision, compactRevision: this.history.stateAt(call.from).compactRevision };
  }

  txn(call: Call, txn: Txn, answer: TxnResult): void {
    this.#checkFresh(call, answer.revision);
    const write = claimsEffect(answer) ? this.history.writeOf(answer.revision) : undefined;
    if (write === undefined) {
      this.#judgeTxn(call, txn, answer, this.#stateOf(call, answer.revision), undefined);
    } else {
      expectThat(
        write.position >= call.from,
        'answer',
        () => `${call.what} says that it is ${textOf(write)}, which was there before`,
      );
      // A compaction of which no client had been told may be earlier in the log and take effect later.
      const { compactRevision } = this.history.stateAt(call.from);
      this.#judgeTxn(call, txn, answer, { ...this.history.stateAt(write.position), compactRevision }, write);
      expectThat(this.writes.explain(write), 'answer', () => `${call.what} is the second to be ${textOf(write)}`);
    }
    this.told(answer.revision);
  }

  #judgeTxn(call: Call, txn: Txn, answer: TxnResult, state: StateAt, write: LoggedWrite | undefined): void {
    const evaluated = evaluateTxn(this.history, state, txn);
    if (evaluated.kind === 'refused')
      throw new Finding('answer', `${call.what} was answered at ${answer.revision}, not refused: ${evaluated.code}`);
    const found = difference(answer, evaluated.answer);
    if (found !== undefined) throw new Finding('answer', `${call.what}:${found}`);
    const explained = write === undefined ? evaluated.changes.length === 0 : makes(evaluated.changes, write);
    expectThat(explained, 'answer', () => `${call.what} is not what it says: ${write ? textOf(write) : 'no change'}`);
  }

  txnRefused(call: Call, txn: Txn, code: ErrorCode): void {
    if (code === 'TooManyRequests') return;
    if (code === 'NoSpace' || code === 'Corrupt') {
      this.refusedByAlarm(call, code);
      return;
    }
    expectThat(
      this.writes.isRefused(txn, code, call.from, this.history.next),
      'refusal',
      () => `${call.what} was refused with ${code}, which no state explains`,
    );
  }

  refusedByAlarm(call: Call, code: 'NoSpace' | 'Corrupt'): void {
    const alarm = code === 'NoSpace' ? 1 : 2;
    const raised = this.writes
      .positions(call.from, this.history.next)
      .some((position) => this.history.alarmsAt(position).some((one) => one.alarm === alarm));
    expectThat(raised, 'refusal', () => `${call.what} was refused with ${code}, and there is no such alarm`);
  }

  /** Checks that a write was not answered under the alarm CORRUPT. */
  checkAllowed(call: Call): void {
    const raised = this.writes
      .positions(call.from, this.history.next)
      .every((position) => this.history.alarmsAt(position).some(({ alarm }) => alarm === 2));
    expectThat(!raised, 'answer', () => `${call.what} was answered under the alarm CORRUPT`);
  }

  range(call: Call, op: RangeOp, chunks: readonly RangeResult[]): void {
    const last = chunks.at(-1)!;
    const { revision } = last;
    this.#checkFresh(call, revision);
    expectThat(
      chunks.every((chunk) => chunk.revision === revision),
      'answer',
      () => `${call.what}: chunks of several revisions`,
    );
    const state = this.#stateOf(call, revision);
    const expected = evaluateRange(this.history, state, op);
    if (typeof expected === 'string')
      throw new Finding('answer', `${call.what} was answered at ${revision}, not refused: ${expected}`);
    const whole: RangeResult = { ...last, kvs: chunks.flatMap(({ kvs }) => [...kvs]) };
    const found = difference(whole, expected);
    if (found !== undefined) throw new Finding('answer', `${call.what}:${found}`);
    this.told(revision);
  }

  /** Judges a read that was refused with Compacted or FutureRev. */
  readRefused(call: Call, wanted: number, code: ErrorCode): void {
    const { history } = this;
    const explained =
      code === 'FutureRev'
        ? wanted > history.revisionAt(call.from)
        : code === 'Compacted' && wanted > 0 && wanted < history.compactRevision;
    expectThat(
      explained,
      'refusal',
      () =>
        `${call.what} was refused with ${code} (compacted at ${history.compactRevision}, revision ${history.revision})`,
    );
  }

  /** Judges a refused stream of chunks. It reads at one revision, so compaction may overtake it. */
  streamRefused(call: Call, op: RangeOp, code: ErrorCode): void {
    if (code === 'Compacted' && op.revision <= 0) {
      expectThat(
        this.history.revisionAt(call.from) < this.history.compactRevision,
        'refusal',
        () => `${call.what} was overtaken by no compaction`,
      );
      return;
    }
    this.readRefused(call, op.revision, code);
  }

  compacted(call: Call, wanted: number): void {
    const write = this.#markOf(call, ({ mark }) => mark?.kind === 'compact' && mark.revision === wanted);
    expectThat(write !== undefined, 'answer', () => `${call.what} was answered, and the log has no such mark`);
    this.writes.explain(write);
    this.tellWrite(write);
  }

  compactRefused(call: Call, wanted: number, code: ErrorCode): void {
    const { history } = this;
    const explained =
      code === 'FutureRev'
        ? wanted > history.revisionAt(call.from)
        : code === 'Compacted' && wanted <= history.compactRevision;
    expectThat(
      explained,
      'refusal',
      () =>
        `${call.what} was refused with ${code} (compacted at ${history.compactRevision}, revision ${history.revision})`,
    );
  }

  /**
   * The oldest unexplained write of the call's window that matches. Answers come in any order, so a later request may
   * find a later write only.
   */
  #markOf(call: Call, matches: (write: LoggedWrite) => boolean): LoggedWrite | undefined {
    return this.writes.unexplained(call.from).find(matches);
  }

  leaseGranted(call: Call, id: bigint, ttlSeconds: number): void {
    const write = this.#markOf(
      call,
      ({ mark }) => mark?.kind === 'lease-grant' && mark.id === id && mark.ttlSeconds === ttlSeconds,
    );
    expectThat(
      write !== undefined,
      'answer',
      () => `${call.what} granted ${id} for ${ttlSeconds} s, and the log has no such mark`,
    );
    this.writes.explain(write);
    this.tellWrite(write);
  }

  /**
   * The end of a lease is durable; it was sent to the log at `sentMs`. `revokes` decides which request may have caused
   * it.
   */
  leaseEnded(write: LoggedWrite, id: bigint, granted: number, sentMs: number): void {
    this.writes.explain(write);
    this.revokes.ended(write, id, granted, sentMs);
  }

  leaseRevoked(call: Call, id: bigint, revision: number): void {
    this.#checkFresh(call, revision);
    const ends = this.revokes.answered(call, id, revision, this.history.next);
    // If several ends are possible, only the first of them is certain to have been told.
    this.#acknowledged = Math.max(this.#acknowledged, Math.min(...ends.map(({ next }) => next)));
  }

  /**
   * Judges a renewal that was answered with this TTL. The lease may be of any state of the window, since its end may be
   * durable before any client is told. If the id was granted again meanwhile with the same TTL, either lease may have
   * been renewed. A member that has no answer of a leader sends a renewal again; its copies may take effect for `copiesMs` more.
   */
  leaseRenewed(call: Call, id: bigint, ttlSeconds: number, nowMs: number, copiesMs = 0): void {
    const spans = new Map<number, number>();
    for (const position of this.writes.positions(call.from, this.history.next)) {
      const span = this.history.leaseAt(id, position);
      if (span?.ttlSeconds === ttlSeconds) spans.set(span.granted, position);
    }
    expectThat(spans.size > 0, 'answer', () => `${call.what}: ${ttlSeconds} s, and no state explains it`);
    const positions = [...spans.values()];
    if (positions.length === 1) this.leases.renewed(id, positions[0]!, call.startMs, nowMs, nowMs + copiesMs);
    else for (const position of positions) this.leases.maybeRenewed(id, position);
  }

  /** Checks that the lease existed, or did not exist, in some state of the window. */
  leaseSeen(call: Call, id: bigint, there: boolean, code: string): void {
    const seen = this.writes
      .positions(call.from, this.history.next)
      .some((position) => (this.history.leaseAt(id, position) !== undefined) === there);
    expectThat(seen, there ? 'answer' : 'refusal', () => `${call.what}: ${code}, and no state explains it`);
  }

  timeToLive(
    call: Call,
    id: bigint,
    ttlSeconds: number,
    remaining: number,
    keys: readonly Uint8Array[],
    nowMs: number,
  ): void {
    const texts = keys.map(keyText);
    const explained = this.writes.positions(call.from, this.history.next).some((position) => {
      const span = this.history.leaseAt(id, position);
      if (span?.ttlSeconds !== ttlSeconds) return false;
      const expected = this.history.leaseKeys(id, position);
      if (texts.length > 0 && (texts.length !== expected.length || texts.some((key, at) => key !== expected[at])))
        return false;
      const [least, most] = this.leases.remaining(id, span.granted, call.startMs, nowMs);
      return remaining >= least && remaining <= most;
    });
    expectThat(
      explained,
      'answer',
      () => `${call.what}: ${ttlSeconds} s granted, ${remaining} left, keys ${texts}: no state explains it`,
    );
  }

  leaseList(call: Call, ids: readonly bigint[]): void {
    const text = (list: readonly bigint[]): string => list.toSorted((left, right) => Number(left - right)).join(' ');
    const seen = text(ids);
    const explained = this.writes
      .positions(call.from, this.history.next)
      .some((position) => text(this.history.leasesAt(position).map(({ id }) => id)) === seen);
    expectThat(explained, 'answer', () => `${call.what}: leases ${seen}: no state explains it`);
  }

  alarmList(call: Call, alarms: readonly { readonly memberId: bigint; readonly alarm: number }[]): void {
    const text = (list: readonly { memberId: bigint; alarm: number }[]): string =>
      list
        .map(({ memberId, alarm }) => `${memberId}/${alarm}`)
        .sort()
        .join(' ');
    const seen = text(alarms);
    const explained = this.writes
      .positions(call.from, this.history.next)
      .some((position) => text(this.history.alarmsAt(position)) === seen);
    expectThat(explained, 'answer', () => `${call.what}: alarms ${seen}: no state explains it`);
  }

  /** Judges a request that has changed an alarm (`changed`), or has found it as requested. */
  alarmSet(call: Call, alarm: number, memberId: bigint, active: boolean, changed: boolean): void {
    const name = (one: { readonly memberId: bigint; readonly alarm: number }): boolean =>
      one.alarm === alarm && one.memberId === memberId;
    const write = this.#markOf(call, ({ mark }) => mark?.kind === 'alarm' && name(mark) && mark.active === active);
    if (write !== undefined && changed) {
      this.writes.explain(write);
      this.tellWrite(write);
      return;
    }
    const already = this.writes
      .positions(call.from, this.history.next)
      .some((position) => this.history.alarmsAt(position).some(name) === active);
    expectThat(already, 'answer', () => `${call.what} was answered (${changed}), and the log has no such mark`);
  }

  hash(call: Call, { hash, hashRevision, compactRevision }: HashKvResult): void {
    this.#checkCompactRevision(call, compactRevision);
    if (hashRevision < 0) return;
    let expected = 0;
    for (const { kv } of this.history.liveIn({ key: Uint8Array.of(0), end: Uint8Array.of(0) }, hashRevision))
      expected = crc32(kv, expected);
    expectThat(hash === expected, 'answer', () => `${call.what}: hash ${hash} at ${hashRevision}, not ${expected}`);
  }

  #checkCompactRevision(call: Call, compactRevision: number): void {
    const oldest = this.history.stateAt(call.from).compactRevision;
    expectThat(
      compactRevision >= oldest && compactRevision <= this.history.compactRevision,
      'answer',
      () => `${call.what}: compacted at ${compactRevision}, not from ${oldest} to ${this.history.compactRevision}`,
    );
  }

  /** Judges a refused image. A slow client loses its image to a compaction, where snapshots `mayEnd`. */
  imageRefused(call: Call, code: ErrorCode, mayEnd: boolean): void {
    const { history } = this;
    const compacted = history.compactRevision > history.stateAt(call.from).compactRevision;
    expectThat(
      code === 'Compacted' && compacted && mayEnd,
      'refusal',
      () => `${call.what} was refused with ${code} (compacted at ${history.compactRevision})`,
    );
  }

  /** Judges an image by the versions that were read from it. */
  image(call: Call, image: StoreImage, kvs: readonly Uint8Array[]): void {
    this.#checkFresh(call, image.revision);
    this.#checkCompactRevision(call, image.compactRevision);
    const expected = this.history.kept(image.compactRevision, image.revision);
    expectThat(
      expected.length === image.count && kvs.length === image.count,
      'answer',
      () => `${call.what}: ${kvs.length} versions at ${image.revision}, not ${expected.length}`,
    );
    for (const [at, event] of expected.entries()) {
      expectThat(
        image.modRevision(at) === event.mod &&
          image.sub(at) === event.sub &&
          image.isTombstone(at) === event.deleted &&
          isVersion(kvs[at]!, event),
        'answer',
        () => `${call.what}: version ${at} is ${textOfBytes(kvs[at]!)}, not ${textOfKv(event)}`,
      );
    }
  }
}
