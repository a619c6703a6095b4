import { assert, type LogPosition } from '@engram/core';

/**
 * Encoded versions by log position, bounded in bytes. Two generations instead of a list of uses: what is read moves to
 * the young one, and when that has grown to half the bound, the old one is dropped whole. No work for each entry, and
 * what was used within the last half bound of traffic is there.
 *
 * Versions that are not durable yet are kept apart and outside the bound: storage cannot give them back. The writer's
 * bound on waiting bytes is theirs.
 */
export class RecordCache {
  readonly #halfBytesMax: number;
  readonly #pending = new Map<LogPosition, Uint8Array>();
  #young = new Map<LogPosition, Uint8Array>();
  #old = new Map<LogPosition, Uint8Array>();
  #youngBytes = 0;
  #oldBytes = 0;

  constructor(bytesMax: number) {
    assert(bytesMax >= 0, 'a cache bound is below 0');
    this.#halfBytesMax = bytesMax / 2;
  }

  get bytes(): number {
    return this.#youngBytes + this.#oldBytes;
  }

  get(position: LogPosition): Uint8Array | undefined {
    const young = this.#young.get(position);
    if (young !== undefined) return young;
    const old = this.#old.get(position);
    if (old !== undefined) {
      // A copy: records share slabs, and this one would keep all of its neighbours alive.
      const kept = old.slice();
      this.add(position, kept);
      return kept;
    }
    return this.#pending.get(position);
  }

  addPending(position: LogPosition, kv: Uint8Array): void {
    this.#pending.set(position, kv);
  }

  /** A pending version is durable now and may be forgotten. */
  settle(position: LogPosition): void {
    const kv = this.#pending.get(position);
    if (kv === undefined) return;
    this.#pending.delete(position);
    this.add(position, kv);
  }

  add(position: LogPosition, kv: Uint8Array): void {
    if (this.#young.has(position)) return;
    this.#young.set(position, kv);
    this.#youngBytes += kv.length;
    if (this.#youngBytes <= this.#halfBytesMax) return;
    this.#old = this.#young;
    this.#oldBytes = this.#youngBytes;
    this.#young = new Map();
    this.#youngBytes = 0;
  }
}
