import { assert } from '@engram/core';
import { decodeRaftState, encodeRaftState } from './codec/raft-state-codec.ts';
import { ElectionError } from './election-error.ts';
import { afterBatch, NEW_RAFT_STATE, type RaftBatch } from './raft-state.ts';
import type { RaftStorage } from './raft-storage.ts';

/** One member's state in memory. It outlives its storages, as a disk does. */
export class MemoryRaftDisk {
  bytes: Uint8Array | undefined;
  /** Counts the takeovers: the number of the storage that has loaded the state last. */
  owner = 0;
}

/** For tests and simulation. A save that has not ended when the disk is loaded again is lost. */
export class MemoryRaftStorage implements RaftStorage {
  readonly #disk: MemoryRaftDisk;
  /** Called before a save takes effect. It may wait, and makes the save fail if it throws. */
  readonly #gate: () => Promise<void>;
  #owner = 0;

  constructor(disk = new MemoryRaftDisk(), gate: () => Promise<void> = async () => {}) {
    this.#disk = disk;
    this.#gate = gate;
  }

  async load(): ReturnType<RaftStorage['load']> {
    this.#disk.owner += 1;
    this.#owner = this.#disk.owner;
    return this.#disk.bytes === undefined ? undefined : decodeRaftState(this.#disk.bytes);
  }

  async save(batch: RaftBatch): Promise<void> {
    assert(this.#owner > 0, 'saved before it was loaded');
    // Encoded before the first wait, so that no reference to the caller's bytes is kept.
    const before = this.#disk.bytes === undefined ? NEW_RAFT_STATE : decodeRaftState(this.#disk.bytes);
    const bytes = encodeRaftState(afterBatch(before, batch));
    await this.#gate();
    if (this.#disk.owner !== this.#owner) throw new ElectionError('storage-taken-over', `by owner ${this.#disk.owner}`);
    this.#disk.bytes = bytes;
  }

  async isOwned(signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted();
    return this.#disk.owner === this.#owner;
  }
}
