import { crc32 } from 'node:zlib';
import { rangeOp, AssertionError, type RangeOp } from '@engram/core';
import { evaluateRange, type StoreHistory } from '@engram/sim/model';
import type { MemoryDisk } from '@engram/storage';
import { difference, listDifference } from '../judge/answers.ts';
import { expectThat, Finding } from '../judge/finding.ts';
import type { Face } from './face.ts';
import { answerOf, type Timed } from './patience.ts';

const ALL = { key: Uint8Array.of(0), end: Uint8Array.of(0) };
const never = new AbortController().signal;

/** A store that nobody writes to holds just what the log says. */
export class StateCheck {
  readonly #world: Timed;
  readonly #history: StoreHistory;
  readonly #face: Face;
  readonly #what: string;

  constructor(world: Timed & { readonly history: StoreHistory }, face: Face, what: string) {
    this.#world = world;
    this.#history = world.history;
    this.#face = face;
    this.#what = what;
  }

  /** `compactRevision`: of the log, or higher where only this store was compacted. */
  async all(compactRevision: number): Promise<void> {
    const { revision } = this.#history;
    this.#same('revision', this.#face.revision, revision);
    this.#same('compact revision', this.#face.compactRevision, compactRevision);
    await this.leases();
    this.#same('alarms', this.#face.alarms().length, this.#history.alarmsAt(this.#history.next).length);
    await this.versions(compactRevision);
    for (const at of new Set([revision, Math.max(1, compactRevision), Math.ceil((revision + compactRevision) / 2)])) {
      if (at >= 1 && at <= revision) await this.contentAt(at, compactRevision);
    }
    this.index();
  }

  async leases(): Promise<void> {
    const spans = this.#history.leasesAt(this.#history.next);
    const texts = (ids: readonly bigint[]): string => ids.map(String).sort().join(' ');
    this.#same('leases', texts(this.#face.leases()), texts(spans.map(({ id }) => id)));
    for (const { id, ttlSeconds } of spans) {
      const lease = await this.#ask(this.#face.timeToLive(id, true, never));
      this.#same(`TTL of lease ${id}`, lease?.grantedTtlSeconds, ttlSeconds);
      const keys = (lease?.keys ?? []).map((key) => Buffer.from(key).toString('latin1'));
      this.#same(
        `keys of lease ${id}`,
        JSON.stringify(keys),
        JSON.stringify(this.#history.leaseKeys(id, this.#history.next)),
      );
    }
  }

  /** Every version that is to be kept, and no other. */
  async versions(compactRevision: number): Promise<void> {
    const expected = this.#history.kept(compactRevision, this.#history.revision);
    using image = await this.#ask(this.#face.image(never));
    const kvs = image.count === 0 ? [] : await this.#ask(image.read(0, image.count, never));
    const found = listDifference(kvs, expected, 'versions');
    if (found !== undefined) throw new Finding('state', `${this.#what}: ${found}`);
  }

  /** What readers see at a revision, and its hash. */
  async contentAt(at: number, compactRevision: number): Promise<void> {
    const state = { position: this.#history.next, revision: this.#history.revision, compactRevision };
    const op = rangeOf(at);
    const expected = evaluateRange(this.#history, state, op);
    if (typeof expected === 'string') throw new Error(`the model refuses revision ${at}: ${expected}`);
    const found = difference(await this.#ask(this.#face.range(op, never)), expected);
    if (found !== undefined) throw new Finding('state', `${this.#what} at ${at}:${found}`);
    let hash = 0;
    for (const { kv } of this.#history.liveIn(ALL, at)) hash = crc32(kv, hash);
    this.#same(`hash at ${at}`, (await this.#ask(this.#face.hashKv(at, never))).hash, hash);
  }

  /** What the index says of itself. */
  index(): void {
    try {
      this.#face.verify();
    } catch (error) {
      if (!(error instanceof AssertionError)) throw error;
      throw new Finding('state', `${this.#what}: the index does not hold together: ${error.message}`, { cause: error });
    }
    this.#same('living keys', this.#face.liveKeys, this.#history.liveIn(ALL, this.#history.revision).length);
  }

  /** What must be kept is on the disk, and of the other versions none is. */
  disk(disk: MemoryDisk, compactRevision: number): void {
    const kept = new Set(this.#history.kept(compactRevision, this.#history.revision).map(({ position }) => position));
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
