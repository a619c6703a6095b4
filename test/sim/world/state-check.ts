import { crc32 } from 'node:zlib';
import { rangeOp, AssertionError, type RangeOp } from '@engram/core';
import { evaluateRange, type StoreHistory } from '@engram/sim/model';
import { difference, listDifference } from '../judge/answers.ts';
import { expectThat, Finding } from '../judge/finding.ts';
import { textOf } from '../judge/write-judge.ts';
import { textOfUsers, UsersHistory } from '../users/users-model.ts';
import { usersOf } from '../users/users-of-store.ts';
import type { Face } from './face.ts';
import { answerOf, type Timed, until } from './patience.ts';

const ALL = { key: Uint8Array.of(0), end: Uint8Array.of(0) };
const never = new AbortController().signal;

/** The methods of a store that the check uses. */
export type CheckedStore = Pick<
  Face,
  | 'revision'
  | 'compactRevision'
  | 'applied'
  | 'leases'
  | 'timeToLive'
  | 'alarms'
  | 'image'
  | 'range'
  | 'hashKv'
  | 'verify'
  | 'liveKeys'
  | 'authState'
>;

/**
 * Checks that a store without writing clients has exactly the state of its log. Its leases may end during the check.
 * Then the current part is compared again with the longer log, so every comparison is with one state of the log, the
 * last one.
 */
export class StateCheck {
  readonly #world: Timed;
  readonly #history: StoreHistory;
  readonly #face: CheckedStore;
  readonly #what: string;

  constructor(world: Timed & { readonly history: StoreHistory }, face: CheckedStore, what: string) {
    this.#world = world;
    this.#history = world.history;
    this.#face = face;
    this.#what = what;
  }

  async all(): Promise<void> {
    await this.#part(() => this.#leases());
    await this.#part(() => this.#versions());
    await this.#part(async () => {
      const { revision, compactRevision } = this.#history;
      for (const at of new Set([revision, Math.max(1, compactRevision), Math.ceil((revision + compactRevision) / 2)])) {
        if (at >= 1 && at <= revision) await this.#contentAt(at);
      }
    });
    await this.#part(() => this.#index());
    await this.#part(() => this.#users());
  }

  /** Checks the parts of the state that a compaction changes. */
  async compacted(): Promise<void> {
    await this.#part(() => this.#versions());
    await this.#part(() => this.#contentAt(this.#history.compactRevision));
    await this.#part(() => this.#index());
  }

  /**
   * Compares at one state of the log. All of the log has taken effect before, and no record is added meanwhile. Only
   * ends of leases may be added, so a part is repeated at most once for each lease.
   */
  async #part(compare: () => void | Promise<void>): Promise<void> {
    const history = this.#history;
    for (;;) {
      await until(this.#world, `${this.#what} has applied its log`, () => this.#face.applied === history.next);
      const { length } = history.writes;
      let found: unknown;
      try {
        this.#marks();
        await compare();
      } catch (error) {
        found = error;
      }
      const came = history.writes.slice(length);
      if (came.length === 0 && found !== undefined) throw found;
      if (came.length === 0) return;
      const other = came.find(({ mark }) => mark?.kind !== 'lease-revoke');
      if (other !== undefined) throw new Finding('ghost', `${this.#what} has written ${textOf(other)} by itself`);
    }
  }

  #marks(): void {
    const { revision, compactRevision, next } = this.#history;
    this.#same('revision', this.#face.revision, revision);
    this.#same('compact revision', this.#face.compactRevision, compactRevision);
    this.#same('alarms', this.#face.alarms().length, this.#history.alarmsAt(next).length);
  }

  async #leases(): Promise<void> {
    const spans = this.#history.leasesAt(this.#history.next);
    const texts = (ids: readonly bigint[]): string => ids.map(String).sort().join(' ');
    this.#same('leases', texts(await this.#ask(this.#face.leases())), texts(spans.map(({ id }) => id)));
    for (const { id, ttlSeconds } of spans) {
      const lease = await this.#ask(this.#face.timeToLive(id, true, never));
      this.#same(`TTL of lease ${id}`, lease?.grantedTtlSeconds, ttlSeconds);
      const keys = [...(lease?.keys ?? [])].map((key) => Buffer.from(key).toString('latin1'));
      this.#same(
        `keys of lease ${id}`,
        JSON.stringify(keys),
        JSON.stringify(this.#history.leaseKeys(id, this.#history.next)),
      );
    }
  }

  /** Checks that the store has every version that must be kept, and no other. */
  async #versions(): Promise<void> {
    const expected = this.#history.kept(this.#history.compactRevision, this.#history.revision);
    using image = await this.#ask(this.#face.image(never));
    const kvs = image.count === 0 ? [] : await this.#ask(image.read(0, image.count, never));
    const found = listDifference(kvs, expected, 'versions');
    if (found !== undefined) throw new Finding('state', `${this.#what}: ${found}`);
  }

  /** Checks the content at a revision, and its hash. */
  async #contentAt(at: number): Promise<void> {
    const state = this.#history.stateAt(this.#history.next);
    const op = rangeOf(at);
    const expected = evaluateRange(this.#history, state, op);
    if (typeof expected === 'string') throw new Error(`the model refuses revision ${at}: ${expected}`);
    const found = difference(await this.#ask(this.#face.range(op, never)), expected);
    if (found !== undefined) throw new Finding('state', `${this.#what} at ${at}:${found}`);
    let hash = 0;
    for (const { kv } of this.#history.liveIn(ALL, at)) hash = crc32(kv, hash);
    this.#same(`hash at ${at}`, (await this.#ask(this.#face.hashKv(at, never))).hash, hash);
  }

  #users(): void {
    const { newest } = new UsersHistory(this.#history);
    this.#same('users and roles', textOfUsers(usersOf(this.#face.authState)), textOfUsers(newest));
  }

  /** Checks the consistency of the index. */
  #index(): void {
    try {
      this.#face.verify();
    } catch (error) {
      if (!(error instanceof AssertionError)) throw error;
      throw new Finding('state', `${this.#what}: the index does not hold together: ${error.message}`, { cause: error });
    }
    this.#same('living keys', this.#face.liveKeys, this.#history.liveIn(ALL, this.#history.revision).length);
  }

  /** Checks that the disk has every version that must be kept, and no other. */
  disk(disk: { has(position: number): boolean }): void {
    const { compactRevision, revision } = this.#history;
    const kept = new Set(this.#history.kept(compactRevision, revision).map(({ position }) => position));
    for (const { events } of this.#history.lines) {
      for (const { key, mod, position } of events) {
        const version = (): string => `${this.#what}: ${JSON.stringify(key)} of revision ${mod}, record ${position},`;
        expectThat(disk.has(position) || !kept.has(position), 'state', () => `${version()} is not on the disk`);
        expectThat(!disk.has(position) || kept.has(position), 'leak', () => `${version()} is on the disk for ever`);
      }
    }
  }

  #ask<Answer>(answer: Promise<Answer>): Promise<Answer> {
    return answerOf(this.#world, this.#what, answer);
  }

  #same<Value>(of: string, actual: Value, expected: Value): void {
    expectThat(actual === expected, 'state', () => `${this.#what}: ${of} ${actual}, not ${expected}`);
  }
}

function rangeOf(at: number): RangeOp {
  return rangeOp(ALL, { revision: at });
}
