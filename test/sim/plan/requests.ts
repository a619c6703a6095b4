import {
  rangeOp,
  type Compare,
  EMPTY_BYTES,
  keyBytes,
  type KeyRange,
  keyText,
  leaseId,
  type Op,
  type PutOp,
  putOp,
  type RangeOp,
  type Txn,
} from '@engram/core';
import type { Prng } from '@engram/sim';
import type { StoreHistory } from '@engram/sim/model';
import type { Settings } from './settings.ts';

/** Draws requests of clients that know a part of the store's current state. */
export class Requests {
  readonly #random: Prng;
  readonly #settings: Settings;
  readonly #history: StoreHistory;
  /** Different in every step, so that a value identifies the step that wrote it. */
  readonly #tag: string;

  constructor(random: Prng, settings: Settings, history: StoreHistory, tag: string) {
    this.#random = random;
    this.#settings = settings;
    this.#history = history;
    this.#tag = tag;
  }

  /** Keys that are prefixes of each other, with bytes 0x00 and 0xff among them. */
  key(): string {
    return keyAt(this.#random.below(this.#settings.keys));
  }

  range(): KeyRange {
    const random = this.#random;
    const key = keyBytes(this.key());
    const kind = random.below(10);
    if (kind < 4) return { key, end: EMPTY_BYTES };
    if (kind < 6) return { key, end: Uint8Array.of(0) };
    if (kind < 8) return { key: Uint8Array.of(0), end: Uint8Array.of(0) };
    return { key, end: keyBytes(this.key()) };
  }

  /** 0: a request without one. */
  leaseId(): bigint {
    return BigInt(1 + this.#random.below(this.#settings.leases));
  }

  /** The newest revision, or a past or even a future one. */
  revision(): number {
    const random = this.#random;
    const { revision } = this.#history;
    const kind = random.below(10);
    if (kind < 5) return 0;
    if (kind < 9) return Math.max(0, revision - random.below(random.pick([3, 10, 40])));
    return revision + random.below(3) - 1;
  }

  rangeOp(range = this.range()): RangeOp {
    const random = this.#random;
    const plain = random.chance(0.6);
    const bound = (): number => (plain || random.chance(0.8) ? 0 : random.below(this.#history.revision + 2));
    return {
      kind: 'range',
      range,
      limit: random.chance(0.6) ? 0 : random.below(6) - 1,
      revision: this.revision(),
      sortOrder: plain ? 0 : random.below(3),
      sortTarget: plain ? 0 : random.below(5),
      serializable: random.chance(0.2),
      keysOnly: random.chance(0.2),
      countOnly: random.chance(0.1),
      minModRevision: bound(),
      maxModRevision: bound(),
      minCreateRevision: bound(),
      maxCreateRevision: bound(),
    };
  }

  put(key = this.key()): PutOp {
    const random = this.#random;
    const ignoreValue = random.chance(0.1);
    const ignoreLease = random.chance(0.1);
    const value = `${this.#tag}${'x'.repeat(random.below(this.#settings.valueBytesMax))}`;
    return {
      kind: 'put',
      key: keyBytes(key),
      value: ignoreValue || random.chance(0.05) ? EMPTY_BYTES : keyBytes(value),
      lease: leaseId(ignoreLease || random.chance(0.6) ? 0n : this.leaseId()),
      prevKv: random.chance(0.4),
      ignoreValue,
      ignoreLease,
    };
  }

  putTxn(): Txn {
    return { compares: [], success: [this.put()], failure: [] };
  }

  deleteTxn(range: KeyRange = { key: keyBytes(this.key()), end: EMPTY_BYTES }): Txn {
    return {
      compares: [],
      success: [{ kind: 'delete-range', range, prevKv: this.#random.chance(0.5) }],
      failure: [],
    };
  }

  /** A transaction that could write but changes nothing, because no run has the key that it deletes. */
  lookTxn(): Txn {
    const nowhere: KeyRange = { key: keyBytes('nowhere'), end: EMPTY_BYTES };
    const success: Txn['success'] = [
      plainRange(EVERYTHING, 0),
      { kind: 'delete-range', range: nowhere, prevKv: false },
    ];
    return { compares: [], success, failure: [] };
  }

  /** A transaction like a lock's: a read of the previous state, then a put. */
  lockTxn(key = this.key(), range: KeyRange = { key: keyBytes(key), end: EMPTY_BYTES }): Txn {
    const read: RangeOp = { ...this.rangeOp(range), revision: 0 };
    return { compares: [], success: [read, this.put(key)], failure: [] };
  }

  /** Like `lockTxn`, of a live key if there is one. */
  lockLiveTxn(): Txn {
    const random = this.#random;
    const live = this.#history.liveIn(EVERYTHING, this.#history.revision);
    const key = live.length === 0 ? this.key() : random.pick(live).key;
    const range: KeyRange = { key: keyBytes(key), end: EMPTY_BYTES };
    if (random.chance(0.3)) return this.lockTxn(key, range);
    return { compares: [], success: [plainRange(range, 0), this.put(key)], failure: [] };
  }

  /** Puts of many keys under one lease. */
  crowdTxn(lease: bigint): Txn {
    const success = this.#manyKeys().map((key): Op => ({ ...plainPut(key, this.#tag), lease: leaseId(lease) }));
    return { compares: [], success, failure: [] };
  }

  /** Deletes everything, or puts many keys without a lease. */
  scatterTxn(): Txn {
    if (this.#random.chance(0.5)) return this.deleteTxn(EVERYTHING);
    return { compares: [], success: this.#manyKeys().map((key) => plainPut(key, this.#tag)), failure: [] };
  }

  /** Reads everything at a past revision, then does many small operations, one of which changes a key. */
  readOldTxn(): Txn {
    const random = this.#random;
    const { revision, compactRevision } = this.#history;
    const least = Math.max(1, compactRevision);
    const old = random.between(least, Math.max(least, revision - 1));
    const key = this.key();
    const small = Array.from({ length: random.pick([3, 10, 30]) }, () =>
      plainRange({ key: keyBytes(key), end: EMPTY_BYTES }, 0),
    );
    return { compares: [], success: [plainRange(EVERYTHING, old), ...small, plainPut(key, this.#tag)], failure: [] };
  }

  #manyKeys(): readonly string[] {
    const { keys } = this.#settings;
    const count = Math.min(keys, this.#random.between(2, 12));
    return Array.from({ length: count }, (_, at) => keyAt(at));
  }

  /** Mostly a typical transaction: an update if the key is unchanged, otherwise a read. Sometimes any transaction. */
  txn(): Txn {
    const random = this.#random;
    const key = this.key();
    const range: KeyRange = { key: keyBytes(key), end: EMPTY_BYTES };
    if (random.chance(0.15)) return this.lockTxn(key, random.chance(0.7) ? range : this.range());
    if (random.chance(0.4)) {
      const known = this.#history.live(key, this.#history.revision - random.below(2));
      return {
        compares: [{ range, result: 0, target: 2, number: known?.mod ?? 0, lease: leaseId(0n), value: EMPTY_BYTES }],
        success: [random.chance(0.7) ? this.put(key) : { kind: 'delete-range', range, prevKv: true }],
        failure: [this.rangeOp(range)],
      };
    }
    return this.#anyTxn(0, new Set());
  }

  /** Each operation has keys of its own, because a valid transaction changes a key at most once in a branch. */
  #anyTxn(depth: number, used: ReadonlySet<string>): Txn {
    const compares = Array.from({ length: this.#random.below(3) }, () => this.#compare());
    return { compares, success: this.#branch(depth, used), failure: this.#branch(depth, used) };
  }

  #branch(depth: number, used: ReadonlySet<string>): Op[] {
    const random = this.#random;
    const mine = new Set(used);
    const ops: Op[] = [];
    for (let count = random.below(depth === 0 ? 5 : 3); count > 0; count -= 1) {
      const kind = random.below(10);
      const key = this.key();
      if (kind < 6 && mine.has(key)) continue;
      if (kind < 6) mine.add(key);
      if (kind < 4) {
        ops.push(this.put(key));
      } else if (kind < 6) {
        const range = { key: keyBytes(key), end: EMPTY_BYTES };
        ops.push({ kind: 'delete-range', range, prevKv: random.chance(0.5) });
      } else if (kind < 9 || depth === 2) {
        ops.push(this.rangeOp());
      } else {
        const txn = this.#anyTxn(depth + 1, mine);
        for (const changed of changedKeys(txn)) mine.add(changed);
        ops.push({ kind: 'txn', txn });
      }
    }
    return ops;
  }

  #compare(): Compare {
    const random = this.#random;
    const range = this.range();
    const target = random.below(6);
    const known = this.#history.liveIn(range, this.#history.revision)[0];
    const numbers = [known?.version ?? 0, known?.create ?? 0, known?.mod ?? 0];
    return {
      range,
      result: random.below(5),
      target,
      number: random.chance(0.7) ? (numbers[target] ?? 0) : random.below(this.#history.revision + 2),
      lease: leaseId(random.chance(0.5) ? (known?.lease ?? 0n) : BigInt(random.below(this.#settings.leases))),
      value: keyBytes(random.chance(0.7) ? (known?.value ?? '') : this.#tag),
    };
  }
}

export const EVERYTHING: KeyRange = { key: Uint8Array.of(0), end: Uint8Array.of(0) };

export const plainRange = (range: KeyRange, revision: number): RangeOp => rangeOp(range, { revision });

const plainPut = (key: string, value: string): PutOp => putOp(keyBytes(key), keyBytes(value));

/** Different for each number below 64. */
export function keyAt(number: number): string {
  const tails = ['', '\x00', 'a', 'b', '\xff', 'aa', 'ab', '\xff\xff'];
  return `${['k', 'a', 'kk', '\xfe', 'm', 'b', 'c', 'd'][number % 8]}${tails[number >> 3]}`;
}

function changedKeys(txn: Txn): string[] {
  return [...txn.success, ...txn.failure].flatMap((op) => {
    if (op.kind === 'put') return [keyText(op.key)];
    if (op.kind === 'delete-range') return [keyText(op.range.key)];
    return op.kind === 'txn' ? changedKeys(op.txn) : [];
  });
}
