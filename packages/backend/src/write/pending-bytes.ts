import { EVENT_PUT, type KvEvent, type LogPosition } from '@engram/core';
import type { RecordCache } from '@engram/scanner';
import type { PendingVersions } from '@engram/sequencer';

/** Deletions from this `sub` on are not kept in the cache: no reader needs their bytes before they are durable. */
const KEPT_DELETIONS = 1024;

/** Keeps the bytes of versions that are not durable yet, which storage cannot give. */
export class PendingBytes implements PendingVersions {
  readonly #cache: RecordCache;

  constructor(cache: RecordCache) {
    this.#cache = cache;
  }

  added({ type, sub, position, kv }: KvEvent): void {
    if (type === EVENT_PUT || sub < KEPT_DELETIONS) this.#cache.addPending(position, kv);
  }

  undone(from: LogPosition): void {
    this.#cache.forgetPending(from);
  }
}
