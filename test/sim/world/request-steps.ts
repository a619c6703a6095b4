import type { RangeResult, TxnResult } from '@engram/backend';
import { EMPTY_BYTES, isEmptyRange, type KeyRange, type Op, type RangeOp, type Txn } from '@engram/core';
import { Prng } from '@engram/sim';
import type { LoggedWrite } from '@engram/sim/model';
import type { Watched } from '../judge/watch-judge.ts';
import type { RequestKind } from '../plan/plan.ts';
import { EVERYTHING, plainRange, Requests } from '../plan/requests.ts';
import { claimsEffect } from '../judge/answers.ts';
import type { Credential } from '../users/credentials.ts';
import { readNeed, txnNeed } from '../users/needs.ts';
import { UserStep } from '../users/user-steps.ts';
import { isUserKind, type UserKind } from '../users/user-weights.ts';
import type { Face } from './face.ts';
import type { Clients } from './clients.ts';
import { MEMBER_ID } from './face.ts';
import { type Asking, grantLease, keepAlive, revokeLease, timeToLive } from './lease-requests.ts';
import type { Served } from './served.ts';
import { readSnapshot } from './snapshot-request.ts';
import { textOfKeys, textOfRange, textOfTxn } from './text-of-request.ts';
import type { WatchClient } from './watch-client.ts';

const WATCHES_MAX = 4;
const NOSPACE = 1;
const CORRUPT = 2;
/** The lease of scenarios that need a lease with many keys. Other requests may use it too. */
export const CROWDED = 1n;

/** Requests that only scenarios send, because they need them in a certain order. */
export type ScenarioRequestKind =
  | 'lock'
  | 'compact-newest'
  | 'compact-before-newest'
  | 'watch-from-compaction'
  | 'grant-crowded'
  | 'grant-brief'
  | 'crowd'
  | 'scatter'
  | 'look-at-crowded'
  | 'renew-crowded'
  | 'revoke-crowded'
  | 'range-all'
  | 'look'
  | 'watch-everything'
  | 'read-old';

/** A step without its kind. */
export interface RequestedStep {
  readonly id: number;
  readonly seed: number;
  /** Who asks. Undefined: drawn. */
  readonly credential?: Credential;
}

/** One request of a client. Does nothing without a node that serves, which a client could not reach. */
export class RequestStep {
  readonly #world: Clients;
  readonly #life: Served;
  readonly #face: Face;
  /** Undefined: clients have no users. */
  readonly #credential: Credential | undefined;
  readonly #random: Prng;
  readonly #requests: Requests;
  readonly #name: string;

  private constructor(world: Clients, life: Served, face: Face, step: RequestedStep) {
    this.#world = world;
    this.#life = life;
    this.#random = new Prng(step.seed);
    this.#credential = face.desk && (step.credential ?? world.credentials.pick(this.#random.fork('who')));
    this.#face = this.#credential === undefined ? face : face.as(this.#credential);
    this.#name = `#${step.id}`;
    this.#requests = new Requests(this.#random, world.settings, world.history, `${step.id}.`);
  }

  static run(
    world: Clients,
    life: Served | undefined,
    step: RequestedStep,
    kind: RequestKind | ScenarioRequestKind | UserKind,
  ): void {
    const face = life?.face;
    if (life === undefined || face === undefined || life.stopping) return;
    const request = new RequestStep(world, life, face, step);
    if (isUserKind(kind)) UserStep.run(request.#asking, step, kind);
    else request[kind]();
  }

  /** A transaction that is given. */
  static txn(world: Clients, life: Served, step: RequestedStep, txn: Txn): void {
    if (life.face !== undefined && !life.stopping) new RequestStep(world, life, life.face, step).#txn(txn);
  }

  put(): void {
    this.#txn(this.#requests.putTxn());
  }

  delete(): void {
    this.#txn(this.#requests.deleteTxn());
  }

  'delete-range'(): void {
    this.#txn(this.#requests.deleteTxn(this.#requests.range()));
  }

  txn(): void {
    this.#txn(this.#requests.txn());
  }

  /** Reads a key and puts it in one transaction; a live key if there is one. */
  lock(): void {
    this.#txn(this.#requests.lockLiveTxn());
  }

  /** Attaches many keys to one lease in one revision. */
  crowd(): void {
    this.#txn(this.#requests.crowdTxn(CROWDED));
  }

  /** Detaches the keys from the lease in one revision. */
  scatter(): void {
    this.#txn(this.#requests.scatterTxn());
  }

  /** A long transaction that begins with a read of the past. */
  'read-old'(): void {
    this.#txn(this.#requests.readOldTxn());
  }

  #txn(txn: Txn): void {
    const { judge } = this.#world;
    const readOnly = [...txn.success, ...txn.failure].every(({ kind }) => kind === 'range');
    const from = judge.acknowledged;
    const explains = (write: LoggedWrite): boolean => judge.writes.txnExplains(txn, write, from);
    const isLocal = [...txn.success, ...txn.failure].every((op) => op.kind === 'range' && op.serializable);
    this.#world.calls.start({
      what: `${this.#name} ${textOfTxn(txn)}`,
      life: this.#life,
      from: isLocal ? this.#localFrom : undefined,
      readsAt: oldestRead(txn),
      ...(readOnly ? {} : { explains }),
      credential: this.#credential,
      need: txnNeed(txn),
      decidedAt: (answer: TxnResult) =>
        claimsEffect(answer) ? this.#world.history.writeOf(answer.revision)?.position : undefined,
      send: (signal) => this.#face.txn(txn, signal),
      answered: (call, answer) => {
        judge.txn(call, txn, answer);
        if (!readOnly) judge.checkAllowed(call);
      },
      refused: (call, code) => judge.txnRefused(call, txn, code),
      text: ({ revision, succeeded }) => `revision ${revision}${succeeded ? '' : ', failed'}`,
    });
  }

  range(): void {
    this.#range(this.#requests.rangeOp(), this.#patience(0.1));
  }

  /** A linearizable read of all keys at the newest revision. */
  look(): void {
    this.#txn(this.#requests.lookTxn());
  }

  'range-all'(): void {
    this.#range(plainRange(EVERYTHING, 0), undefined);
  }

  #range(op: RangeOp, abortAfterMs: number | undefined): void {
    const { judge } = this.#world;
    this.#world.calls.start({
      what: `${this.#name} range ${textOfRange(op)}`,
      life: this.#life,
      from: op.serializable ? this.#localFrom : undefined,
      abortAfterMs,
      credential: this.#credential,
      need: readNeed(op),
      send: (signal) => this.#face.range(op, signal),
      answered: (call, answer) => judge.range(call, op, [answer]),
      refused: (call, code) => judge.readRefused(call, op.revision, code),
      text: ({ revision, kvs, count }) => `${kvs.length} of ${count} at ${revision}`,
    });
  }

  'range-stream'(): void {
    const { judge } = this.#world;
    const plain: Partial<RangeOp> = { sortOrder: 0, sortTarget: 0, minModRevision: 0, maxModRevision: 0 };
    const op: RangeOp = { ...this.#requests.rangeOp(), ...plain, minCreateRevision: 0, maxCreateRevision: 0 };
    const chunkBytes = this.#random.pick([1, 60, 1000]);
    const pauseMs = this.#random.pick([0, 1, 100]);
    this.#world.calls.start({
      what: `${this.#name} range-stream ${textOfRange(op)}`,
      life: this.#life,
      from: op.serializable ? this.#localFrom : undefined,
      abortAfterMs: this.#patience(0.1),
      credential: this.#credential,
      need: readNeed(op),
      send: async (signal) => {
        const chunks: RangeResult[] = [];
        for await (const chunk of this.#face.rangeStream(op, chunkBytes, signal)) {
          chunks.push({ ...chunk, kvs: [...chunk.kvs] });
          await this.#life.process.delay(this.#random.fraction() * pauseMs);
        }
        return chunks;
      },
      answered: (call, chunks) => judge.range(call, op, chunks),
      refused: (call, code) => judge.streamRefused(call, op, code),
      text: (chunks) => `${chunks.length} chunks at ${chunks.at(-1)?.revision}`,
    });
  }

  compact(): void {
    this.#compact(false);
  }

  'compact-physical'(): void {
    this.#compact(true);
  }

  'compact-newest'(): void {
    this.#compact(false, this.#world.history.revision);
  }

  /** Leaves the state that the newest transaction has read. */
  'compact-before-newest'(): void {
    this.#compact(false, Math.max(1, this.#world.history.revision - 1));
  }

  #compact(physical: boolean, wanted = this.#compactedNext()): void {
    const { judge } = this.#world;
    this.#world.calls.start({
      what: `${this.#name} compact ${wanted}${physical ? ' physically' : ''}`,
      life: this.#life,
      explains: ({ mark }) => mark?.kind === 'compact' && mark.revision === wanted,
      credential: this.#credential,
      need: { kind: 'root' },
      send: (signal) => this.#face.compact(wanted, physical, signal),
      answered: (call) => judge.compacted(call, wanted),
      refused: (call, code) => {
        if (code === 'Corrupt') judge.refusedByAlarm(call, code);
        else if (code !== 'TooManyRequests') judge.compactRefused(call, wanted, code);
      },
    });
  }

  #compactedNext(): number {
    const random = this.#random;
    return this.#world.history.revision - random.below(random.pick([1, 2, 10, 30])) + random.pick([0, 0, 0, 0, 1]);
  }

  'lease-grant'(): void {
    const wanted = this.#random.chance(0.8) ? this.#requests.leaseId() : 0n;
    grantLease(this.#asking, wanted, this.#random.pick([-1, 1, 2, 3, 5, 20, 1000]));
  }

  'grant-crowded'(): void {
    grantLease(this.#asking, CROWDED, 1000);
  }

  /** The same lease for as short as it may be. */
  'grant-brief'(): void {
    grantLease(this.#asking, CROWDED, 1);
  }

  'lease-revoke'(): void {
    revokeLease(this.#asking, this.#requests.leaseId());
  }

  'revoke-crowded'(): void {
    revokeLease(this.#asking, CROWDED);
  }

  'keep-alive'(): void {
    keepAlive(this.#asking, this.#requests.leaseId());
  }

  'renew-crowded'(): void {
    keepAlive(this.#asking, CROWDED);
  }

  'lease-ttl'(): void {
    timeToLive(this.#asking, this.#requests.leaseId(), this.#random.chance(0.6));
  }

  'look-at-crowded'(): void {
    timeToLive(this.#asking, CROWDED, true);
  }

  leases(): void {
    const { judge } = this.#world;
    this.#world.calls.start({
      what: `${this.#name} leases`,
      life: this.#life,
      from: this.#localFrom,
      credential: this.#credential,
      need: { kind: 'leases' },
      send: async () => this.#face.leases(),
      answered: (call, ids) => judge.leaseList(call, ids),
      refused: (call, code) => judge.readRefused(call, 0, code),
      text: (ids) => ids.join(' '),
    });
  }

  'alarm-on'(): void {
    const { judge } = this.#world;
    const alarm = this.#random.chance(0.7) ? NOSPACE : CORRUPT;
    this.#world.calls.start({
      what: `${this.#name} activate alarm ${alarm}`,
      life: this.#life,
      explains: ({ mark }) => mark?.kind === 'alarm' && mark.alarm === alarm && mark.active,
      credential: this.#credential,
      need: { kind: 'root' },
      send: (signal) => this.#face.activateAlarm(alarm, signal),
      answered: (call) => judge.alarmSet(call, alarm, MEMBER_ID, true, true),
      refused: (call, code) => {
        if (code !== 'TooManyRequests') judge.readRefused(call, 0, code);
      },
    });
  }

  'alarm-off'(): void {
    const { judge } = this.#world;
    const alarm = this.#random.chance(0.5) ? NOSPACE : CORRUPT;
    this.#world.calls.start({
      what: `${this.#name} deactivate alarm ${alarm}`,
      life: this.#life,
      explains: ({ mark }) => mark?.kind === 'alarm' && mark.alarm === alarm && !mark.active,
      credential: this.#credential,
      need: { kind: 'root' },
      send: (signal) => this.#face.deactivateAlarm(alarm, signal),
      answered: (call, changed) => judge.alarmSet(call, alarm, MEMBER_ID, false, changed),
      refused: (call, code) => {
        if (code !== 'TooManyRequests') judge.readRefused(call, 0, code);
      },
      text: String,
    });
  }

  alarms(): void {
    const { judge } = this.#world;
    this.#world.calls.start({
      what: `${this.#name} alarms`,
      life: this.#life,
      from: this.#localFrom,
      send: async () => this.#face.alarms(),
      answered: (call, alarms) => judge.alarmList(call, alarms),
      refused: (call, code) => judge.readRefused(call, 0, code),
      text: (alarms) => alarms.map(({ alarm }) => alarm).join(' '),
    });
  }

  hash(): void {
    const { judge } = this.#world;
    const wanted = this.#requests.revision();
    this.#world.calls.start({
      what: `${this.#name} hash at ${wanted}`,
      life: this.#life,
      from: this.#localFrom,
      abortAfterMs: this.#patience(0.1),
      credential: this.#credential,
      need: { kind: 'root' },
      send: (signal) => this.#face.hashKv(wanted, signal),
      answered: (call, answer) => judge.hash(call, answer),
      // A compaction may overtake the request.
      refused: (call, code) =>
        judge.readRefused(call, wanted > 0 ? wanted : this.#world.history.revisionAt(call.from), code),
      text: ({ hash, hashRevision }) => `${hash} at ${hashRevision}`,
    });
  }

  image(): void {
    const slice = this.#random.pick([1, 5, 100]);
    const pauseMs = this.#random.pick([0, 1, 100, 1000]);
    const pause = (signal: AbortSignal): Promise<void> => this.#pause(pauseMs, signal);
    readSnapshot(this.#asking, { from: this.#localFrom, abortAfterMs: this.#patience(0.2), slice, pause });
  }

  /** A pause of the client. Ends immediately if the client cancels. */
  async #pause(msMax: number, signal: AbortSignal): Promise<void> {
    const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    await Promise.race([this.#life.process.delay(this.#random.fraction() * msMax), aborted]);
    signal.throwIfAborted();
  }

  defragment(): void {
    const { judge } = this.#world;
    this.#world.calls.start({
      what: `${this.#name} defragment`,
      life: this.#life,
      from: this.#localFrom,
      credential: this.#credential,
      need: { kind: 'root' },
      send: () => this.#face.defragment(),
      answered: () => undefined,
      refused: (call, code) => judge.readRefused(call, 0, code),
    });
  }

  /** A range for a watch, which must not be empty. */
  #watchedRange(): KeyRange {
    const range = this.#requests.range();
    return isEmptyRange(range) ? { key: range.key, end: EMPTY_BYTES } : range;
  }

  watch(): void {
    const { history } = this.#world;
    const start = this.#random.pick([0, 0, history.revision - this.#random.below(20), history.revision + 3, 1]);
    const prevKv = this.#random.chance(0.5);
    const noPut = this.#random.chance(0.15);
    this.#watch(start, this.#watchedRange(), prevKv, noPut, this.#random.chance(0.15));
  }

  'watch-from-compaction'(): void {
    this.#watch(this.#world.history.compactRevision, EVERYTHING, true, false, false);
  }

  'watch-everything'(): void {
    this.#watch(0, EVERYTHING, true, false, false);
  }

  #watch(start: number, range: KeyRange, prevKv: boolean, noPut: boolean, noDelete: boolean): void {
    const { watchClients } = this.#world;
    if (watchClients.length === 0) return;
    const client = this.#random.pick(watchClients);
    if (client.watches >= WATCHES_MAX) return;
    const watched: Watched = { name: `watch ${this.#name} ${textOfKeys(range)}`, range, prevKv, noPut, noDelete };
    const progressNotify = this.#random.chance(0.4);
    // A client that has a stream uses that stream, at any node.
    const life = client.life ?? this.#life;
    const from = this.#world.localFrom(life);
    life.process.after(0, () => {
      if (client.life !== undefined && client.life !== life) return;
      client.connect(life);
      client.watch(watched, Math.max(0, start), progressNotify, from);
    });
  }

  'cancel-watch'(): void {
    this.#atNode((client) => client.cancel());
  }

  'watch-progress'(): void {
    this.#atNode((client) => client.requestProgress());
  }

  /** Calls `ask` when the node of the client's stream is scheduled. */
  #atNode(ask: (client: WatchClient) => void): void {
    const client = this.#client;
    const life = client?.life;
    life?.process.after(0, () => {
      if (client?.life === life && client !== undefined) ask(client);
    });
  }

  'slow-watch'(): void {
    this.#client?.fill(this.#random.pick([5, 100, 3000]));
  }

  get #client(): WatchClient | undefined {
    const { watchClients } = this.#world;
    return watchClients.length === 0 ? undefined : this.#random.pick(watchClients);
  }

  get #asking(): Asking {
    const credential = this.#credential;
    return { world: this.#world, life: this.#life, face: this.#face, name: this.#name, credential };
  }

  /** Lower bound of the state from which the node answers by itself. */
  get #localFrom(): number {
    return this.#world.localFrom(this.#life);
  }

  /** With this probability, a time after which the client cancels the request. */
  #patience(probability: number): number | undefined {
    return this.#random.chance(probability) ? this.#random.fraction() * this.#random.pick([0.5, 20, 500]) : undefined;
  }
}

/** The oldest revision that a range of the transaction names, nested ones too. */
function oldestRead({ success, failure }: Txn): number {
  const at = (op: Op): number => {
    if (op.kind === 'txn') return oldestRead(op.txn);
    return op.kind === 'range' && op.revision > 0 ? op.revision : Number.POSITIVE_INFINITY;
  };
  return Math.min(...[...success, ...failure].map(at));
}
