import {
  AnswerRoom,
  type ByteList,
  ByteViews,
  type Clock,
  doSliced,
  type LeaseId,
  type Slice,
  type SlicedWork,
} from '@engram/core';
import type { Lessor, ListedLease } from '@engram/lease';
import type { Caller } from '../caller.ts';

/** Memory that a lease takes in a list that is sorted and encoded. */
const LISTED_BYTES = 64;
/** Copying a key, in microseconds. */
const KEY_US = 0.2;

export interface LeaseListsOptions {
  readonly lessor: Lessor;
  readonly clock: Clock;
  readonly newSlice: () => Slice;
  /** The most bytes of one list. */
  readonly answerBytesMax: number;
}

/** Lists of leases, and of the keys of one lease, for clients. They are counted before they are made, and made in slices. */
export class LeaseLists {
  readonly #options: LeaseListsOptions;
  /** The last shared list, and the state of the leases that it shows. */
  #shared: { readonly generation: number; readonly list: WeakRef<readonly ListedLease[]> } | undefined;

  constructor(options: LeaseListsOptions) {
    this.#options = options;
  }

  /** The leases as of the call, in the order of their keys in etcd's database. Callers share the list while it is the same. */
  async byId(): Promise<readonly ListedLease[]> {
    const { lessor } = this.#options;
    const { generation } = lessor;
    const last = this.#shared?.generation === generation ? this.#shared.list.deref() : undefined;
    if (last !== undefined) return last;
    const list = await this.#do((slice) => lessor.listById(slice));
    this.#shared = { generation, list: new WeakRef(list) };
    return list;
  }

  /** As `byId`, a list of its own, sorted by remaining time. Error: ResponseTooLarge. */
  async byRemaining(caller: Caller): Promise<readonly ListedLease[]> {
    const { lessor, answerBytesMax } = this.#options;
    new AnswerRoom(answerBytesMax, caller).take(LISTED_BYTES * lessor.size, lessor.size);
    return this.#do((slice) => lessor.listByRemaining(slice), caller.signal);
  }

  /** The keys of a lease as of the call, in byte order. Undefined for an unknown lease. Error: ResponseTooLarge. */
  async keys(id: LeaseId, caller: Caller): Promise<ByteList | undefined> {
    const { lessor, answerBytesMax } = this.#options;
    if (!lessor.has(id)) return undefined;
    const { count, bytes } = lessor.keySizes(id);
    if (count === 0) return [];
    // The texts, the keys and the message of them.
    new AnswerRoom(answerBytesMax, caller).take(3 * bytes, count);
    return this.#do((slice) => this.#keys(id, bytes, slice), caller.signal);
  }

  *#keys(id: LeaseId, bytes: number, slice: Slice): SlicedWork<ByteViews> {
    const texts = yield* this.#options.lessor.listKeys(id, slice);
    const all = Buffer.allocUnsafeSlow(bytes);
    const keys = new ByteViews(texts.length);
    keys.extend(texts.length);
    let at = 0;
    for (const [index, text] of texts.entries()) {
      all.write(text, at, 'latin1');
      keys.set(index, all.buffer, all.byteOffset + at, text.length);
      at += text.length;
      if (slice.spend(KEY_US)) yield;
    }
    return keys;
  }

  async #do<Result>(work: (slice: Slice) => SlicedWork<Result>, signal?: AbortSignal): Promise<Result> {
    const slice = this.#options.newSlice();
    return await doSliced(work(slice), () => slice.turn(this.#options.clock, signal));
  }
}
