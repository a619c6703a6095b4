import { AnswerRoom, type ByteList, ByteViews, type LeaseId } from '@engram/core';
import type { Lessor, ListedLease } from '@engram/lease';
import { byteSteps, type Loop, type PureJob, type Task } from '@engram/loop';
import type { Caller } from '../caller.ts';
import { clientTask } from '../client-task.ts';

const SHARED: Task = { work: 'background', caller: 'images', stage: 'leases' };

/** Memory that a lease takes in a list that is sorted and encoded. */
const LISTED_BYTES = 64;

export interface LeaseListsOptions {
  readonly lessor: Lessor;
  readonly loop: Loop;
  /** The most bytes of one list. */
  readonly answerBytesMax: number;
}

/** Lists of leases, and of the keys of one lease, for clients. They are counted before they are made, and made as jobs. */
export class LeaseLists {
  readonly #options: LeaseListsOptions;
  /** The last shared list, and the state of the leases that it shows. */
  #shared: { readonly generation: number; readonly list: WeakRef<readonly ListedLease[]> } | undefined;

  constructor(options: LeaseListsOptions) {
    this.#options = options;
  }

  /** The leases as of the call, in the order of their keys in etcd's database. Callers share the list while it is the same. */
  async byId(): Promise<readonly ListedLease[]> {
    const { lessor, loop } = this.#options;
    const { generation } = lessor;
    const last = this.#shared?.generation === generation ? this.#shared.list.deref() : undefined;
    if (last !== undefined) return last;
    const list = await loop.run(SHARED, lessor.listById(loop));
    this.#shared = { generation, list: new WeakRef(list) };
    return list;
  }

  /** As `byId`, a list of its own, sorted by remaining time. Error: ResponseTooLarge. */
  async byRemaining(caller: Caller): Promise<readonly ListedLease[]> {
    const { lessor, loop, answerBytesMax } = this.#options;
    new AnswerRoom(answerBytesMax, caller).take(LISTED_BYTES * lessor.size, lessor.size);
    return loop.run(clientTask(caller, 'leases'), lessor.listByRemaining(loop), caller.signal);
  }

  /** The keys of a lease as of the call, in byte order. Undefined for an unknown lease. Error: ResponseTooLarge. */
  async keys(id: LeaseId, caller: Caller): Promise<ByteList | undefined> {
    const { lessor, loop, answerBytesMax } = this.#options;
    if (!lessor.has(id)) return undefined;
    const { count, bytes } = lessor.keySizes(id);
    if (count === 0) return [];
    // The texts, the keys and the message of them.
    new AnswerRoom(answerBytesMax, caller).take(3 * bytes, count);
    return loop.run(clientTask(caller, 'leases'), this.#keys(id, bytes), caller.signal);
  }

  *#keys(id: LeaseId, bytes: number): PureJob<ByteViews> {
    const { lessor, loop } = this.#options;
    const texts = yield* lessor.listKeys(id, loop);
    const all = Buffer.allocUnsafeSlow(bytes);
    const keys = new ByteViews(texts.length);
    keys.extend(texts.length);
    let at = 0;
    for (const [index, text] of texts.entries()) {
      all.write(text, at, 'latin1');
      keys.set(index, all.buffer, all.byteOffset + at, text.length);
      at += text.length;
      if (loop.shouldYield(byteSteps(text.length))) yield;
    }
    return keys;
  }
}
