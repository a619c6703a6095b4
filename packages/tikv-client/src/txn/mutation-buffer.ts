import { compareBytes, EMPTY_BYTES, keyText } from '@engram/core';
import { TikvError } from '../errors.ts';
import { Assertion, Op } from '../proto/gen/kvrpcpb.ts';

/** What a transaction wants of one key. `check`: that it is absent, without a lock or a write. */
export type MutationKind = 'put' | 'insert' | 'delete' | 'lock' | 'check';

export interface Mutation {
  readonly kind: MutationKind;
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  /** kvrpcpb.Assertion. */
  readonly assertion: number;
}

/** What reads of the same transaction see of a buffered key; undefined: what the snapshot says. */
export type BufferedValue = { readonly value: Uint8Array | undefined } | undefined;

export const opOf: Readonly<Record<MutationKind, number>> = {
  put: Op.Put,
  insert: Op.Insert,
  delete: Op.Del,
  lock: Op.Lock,
  check: Op.CheckNotExists,
};

/** Whether it leaves a lock in the prewrite phase. */
export const takesLock = (mutation: Mutation): boolean => mutation.kind !== 'check';

/**
 * The writes of one transaction, one mutation for each key. Pure. What was demanded of a key's former state (insert,
 * check) stays demanded whatever is written over it later.
 */
export class MutationBuffer {
  readonly #mutations = new Map<string, Mutation>();
  #bytes = 0;

  get size(): number {
    return this.#mutations.size;
  }

  /** Keys and values together. */
  get bytes(): number {
    return this.#bytes;
  }

  put(key: Uint8Array, value: Uint8Array): void {
    const text = keyText(key);
    const before = this.#mutations.get(text);
    const demanded = before?.kind === 'insert' || before?.kind === 'check';
    this.#set(text, before, key, demanded ? 'insert' : 'put', value);
  }

  insert(key: Uint8Array, value: Uint8Array): void {
    const text = keyText(key);
    const before = this.#mutations.get(text);
    if (before?.kind === 'put' || before?.kind === 'insert')
      throw new TikvError('invalid-argument', 'the key was written before in this transaction');
    // After a deletion in this transaction the key is absent for it, whatever the snapshot says.
    this.#set(text, before, key, before?.kind === 'delete' ? 'put' : 'insert', value);
  }

  delete(key: Uint8Array): void {
    const text = keyText(key);
    const before = this.#mutations.get(text);
    const demanded = before?.kind === 'insert' || before?.kind === 'check';
    // What was inserted here and is gone again needs no record, only its absence before.
    this.#set(text, before, key, demanded ? 'check' : 'delete', EMPTY_BYTES);
  }

  lock(key: Uint8Array): void {
    const text = keyText(key);
    if (!this.#mutations.has(text)) this.#set(text, undefined, key, 'lock', EMPTY_BYTES);
  }

  checkNotExists(key: Uint8Array): void {
    const text = keyText(key);
    const before = this.#mutations.get(text);
    if (before === undefined) this.#set(text, before, key, 'check', EMPTY_BYTES);
    else if (before.kind === 'put') this.#set(text, before, key, 'insert', before.value);
    else if (before.kind !== 'insert' && before.kind !== 'check') {
      throw new TikvError(
        'invalid-argument',
        `a key cannot be both ${before.kind === 'lock' ? 'locked' : 'deleted'} and checked to be absent`,
      );
    }
  }

  /** The key must have been written or locked before: an assertion rides on a mutation. */
  assert(key: Uint8Array, exists: boolean): void {
    const before = this.#mutations.get(keyText(key));
    if (before === undefined)
      throw new TikvError('invalid-argument', 'an assertion needs a write or a lock of the key');
    this.#mutations.set(keyText(key), { ...before, assertion: exists ? Assertion.Exist : Assertion.NotExist });
  }

  read(key: Uint8Array): BufferedValue {
    const mutation = this.#mutations.get(keyText(key));
    if (mutation === undefined || mutation.kind === 'lock' || mutation.kind === 'check') return undefined;
    return { value: mutation.kind === 'delete' ? undefined : mutation.value };
  }

  /** In key order. */
  sorted(): readonly Mutation[] {
    return [...this.#mutations.values()].sort((left, right) => compareBytes(left.key, right.key));
  }

  /** `text` is the key's, `before` what lies there now. */
  #set(text: string, before: Mutation | undefined, key: Uint8Array, kind: MutationKind, value: Uint8Array): void {
    if (before !== undefined) this.#bytes -= before.key.length + before.value.length;
    this.#bytes += key.length + value.length;
    this.#mutations.set(text, { kind, key, value, assertion: before?.assertion ?? Assertion.None });
  }
}
