import { compareBytes, EMPTY_BYTES, equalBytes, keyText } from '@engram/core';
import { TikvError } from '../errors.ts';
import { Assertion, Op } from '../proto/gen/kvrpcpb.ts';
import { holdsKey, type RegionRange } from '../region/region.ts';

/** What a transaction does with one key. `check`: requires that the key is absent, without a lock or a write. */
export type MutationKind = 'put' | 'insert' | 'delete' | 'lock' | 'check';

export interface Mutation {
  readonly kind: MutationKind;
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  /** kvrpcpb.Assertion. */
  readonly assertion: number;
}

/** What reads of the same transaction see of a buffered key. Undefined: they read the snapshot. */
export type BufferedValue = { readonly value: Uint8Array | undefined } | undefined;

export const opOf: Readonly<Record<MutationKind, number>> = {
  put: Op.Put,
  insert: Op.Insert,
  delete: Op.Del,
  lock: Op.Lock,
  check: Op.CheckNotExists,
};

/** What a read of the same transaction sees of the key of `mutation`. */
export function readOf(mutation: Mutation | undefined): BufferedValue {
  if (mutation === undefined || mutation.kind === 'lock' || mutation.kind === 'check') return undefined;
  return { value: mutation.kind === 'delete' ? undefined : mutation.value };
}

/** Whether a range holds all mutations. There must be at least one, in key order, so the first and the last key suffice. */
export const holdsAll = (range: RegionRange, mutations: readonly Mutation[]): boolean =>
  holdsKey(range, mutations[0]!.key) && holdsKey(range, mutations[mutations.length - 1]!.key);

/** Whether the mutation leaves a lock in the prewrite phase. */
export const takesLock = (mutation: Mutation): boolean => mutation.kind !== 'check';

/**
 * The writes of one transaction, one mutation for each key. Pure. If an insert or a check requires that a key was absent, a
 * later write of the key keeps the requirement.
 */
export class MutationBuffer {
  /** In key order while there is no index. Most writers write in key order, and then no key is hashed or sorted. */
  readonly #list: Mutation[] = [];
  /** Positions in the list by keyText. Undefined until a key comes out of order. */
  #index: Map<string, number> | undefined;
  #bytes = 0;

  get size(): number {
    return this.#list.length;
  }

  /** Size of all keys and values. */
  get bytes(): number {
    return this.#bytes;
  }

  put(key: Uint8Array, value: Uint8Array): void {
    const place = this.#find(key);
    const before = this.#at(place);
    const demanded = before?.kind === 'insert' || before?.kind === 'check';
    this.#set(place, key, demanded ? 'insert' : 'put', value);
  }

  insert(key: Uint8Array, value: Uint8Array): void {
    const place = this.#find(key);
    const before = this.#at(place);
    if (before?.kind === 'put' || before?.kind === 'insert')
      throw new TikvError('invalid-argument', 'the key was written before in this transaction');
    // After a deletion in this transaction the key is absent for the transaction, whatever the snapshot holds.
    this.#set(place, key, before?.kind === 'delete' ? 'put' : 'insert', value);
  }

  delete(key: Uint8Array): void {
    const place = this.#find(key);
    const before = this.#at(place);
    const demanded = before?.kind === 'insert' || before?.kind === 'check';
    // A key that was inserted and deleted again needs no record. Its former absence is still required.
    this.#set(place, key, demanded ? 'check' : 'delete', EMPTY_BYTES);
  }

  lock(key: Uint8Array): void {
    const place = this.#find(key);
    if (place < 0) this.#set(place, key, 'lock', EMPTY_BYTES);
  }

  checkNotExists(key: Uint8Array): void {
    const place = this.#find(key);
    const before = this.#at(place);
    if (before === undefined) this.#set(place, key, 'check', EMPTY_BYTES);
    else if (before.kind === 'put') this.#set(place, key, 'insert', before.value);
    else if (before.kind !== 'insert' && before.kind !== 'check') {
      throw new TikvError(
        'invalid-argument',
        `a key cannot be both ${before.kind === 'lock' ? 'locked' : 'deleted'} and checked to be absent`,
      );
    }
  }

  /** The key must have been written or locked before, because an assertion is a field of a mutation. */
  assert(key: Uint8Array, exists: boolean): void {
    const place = this.#find(key);
    const before = this.#at(place);
    if (before === undefined)
      throw new TikvError('invalid-argument', 'an assertion needs a write or a lock of the key');
    this.#list[place] = { ...before, assertion: exists ? Assertion.Exist : Assertion.NotExist };
  }

  read(key: Uint8Array): BufferedValue {
    return readOf(this.#at(this.#find(key)));
  }

  /** The mutations of `range`, or all, in key order. The caller owns the array. */
  sorted(range?: RegionRange): readonly Mutation[] {
    const mutations = range === undefined ? this.#list.slice() : this.#list.filter(({ key }) => holdsKey(range, key));
    return this.#index === undefined ? mutations : mutations.sort((left, right) => compareBytes(left.key, right.key));
  }

  /** The key's position in the list, or the complement (~) of the position where it would be inserted. */
  #find(key: Uint8Array): number {
    if (this.#index !== undefined) return this.#index.get(keyText(key)) ?? ~this.#list.length;
    let low = 0;
    let high = this.#list.length;
    // A key in order goes to the end, so most searches end with this comparison.
    if (high === 0 || compareBytes(this.#list[high - 1]!.key, key) < 0) return ~high;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareBytes(this.#list[middle]!.key, key) < 0) low = middle + 1;
      else high = middle;
    }
    return equalBytes(this.#list[low]!.key, key) ? low : ~low;
  }

  #at(place: number): Mutation | undefined {
    return place < 0 ? undefined : this.#list[place];
  }

  /** `place`: the result of #find for `key`. */
  #set(place: number, key: Uint8Array, kind: MutationKind, value: Uint8Array): void {
    const before = this.#at(place);
    this.#bytes += key.length + value.length;
    if (before !== undefined) {
      this.#bytes -= before.key.length + before.value.length;
      this.#list[place] = { kind, key, value, assertion: before.assertion };
      return;
    }
    if (~place < this.#list.length)
      this.#index = new Map(this.#list.map((mutation, at) => [keyText(mutation.key), at]));
    this.#index?.set(keyText(key), this.#list.length);
    this.#list.push({ kind, key, value, assertion: Assertion.None });
  }
}
