import type { Timestamp } from '@engram/tso';
import type { FinalStatus } from './lock.ts';

const ENTRIES_MAX = 2_048;

/** States of ended transactions, also of this client's own as soon as it knows them. The oldest entry leaves first. */
export class StatusCache {
  readonly #statuses = new Map<Timestamp, FinalStatus>();

  get(startTs: Timestamp): FinalStatus | undefined {
    return this.#statuses.get(startTs);
  }

  put(startTs: Timestamp, status: FinalStatus): void {
    if (this.#statuses.size >= ENTRIES_MAX) this.#statuses.delete(this.#statuses.keys().next().value!);
    this.#statuses.set(startTs, status);
  }
}
