import type { Backend } from '@engram/backend';
import {
  rangeOp,
  EMPTY_BYTES,
  EngramError,
  type ErrorCode,
  keyBytes,
  type Op,
  type PutOp,
  putOp,
  type RangeOp,
  type Txn,
} from '@engram/core';

export const txnOf = (...success: Op[]): Txn => ({ compares: [], success, failure: [] });

export const putOf = (key: string, value: string, over: Partial<PutOp> = {}): PutOp =>
  putOp(keyBytes(key), keyBytes(value), over);

export const put = (key: string, value: string, over: Partial<PutOp> = {}): Txn => txnOf(putOf(key, value, over));

export const remove = (key: string): Txn =>
  txnOf({ kind: 'delete-range', range: { key: keyBytes(key), end: EMPTY_BYTES }, prevKv: true });

export const get = (key: string, over: Partial<RangeOp> = {}): RangeOp =>
  rangeOp({ key: keyBytes(key), end: EMPTY_BYTES }, over);

export const everything = (over: Partial<RangeOp> = {}): RangeOp =>
  get('', { range: { key: Uint8Array.of(0), end: Uint8Array.of(0) }, ...over });

/** The outcome of a call. An error other than a refusal fails the test. */
export async function refusal(work: Promise<unknown>): Promise<ErrorCode | 'accepted'> {
  try {
    await work;
    return 'accepted';
  } catch (error) {
    if (error instanceof EngramError) return error.code;
    throw error;
  }
}

/** A gate for MemoryStorage: operations of one kind wait while it is shut. */
export class Gate {
  readonly #operation: string;
  #waiting: (() => void)[] = [];
  shut = false;

  constructor(operation: string) {
    this.#operation = operation;
  }

  readonly gate = (operation: string): Promise<void> | undefined =>
    this.shut && operation === this.#operation
      ? new Promise<void>((resolve) => this.#waiting.push(resolve))
      : undefined;

  open(): void {
    this.shut = false;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/** Asserts what must hold between the operations of any store: no reader is pinned, and the index is sound. */
export function checkQuiet(backend: Backend): void {
  const { pins, state } = backend.replica;
  if (pins.size > 0) throw new Error(`${pins.size} pins are held by nobody`);
  state.index.verify();
}
