import type { KeyRange, LeaseId, LogPosition, Revision } from '@engram/core';
import type { KeyIndex, VersionSlot } from '@engram/index';
import type { Turn } from '@engram/loop';
import type { ReadVersions } from '@engram/sequencer';

/** The index as of one revision. */
export class VersionsAt implements ReadVersions {
  readonly #index: KeyIndex;
  readonly #at: Revision;

  constructor(index: KeyIndex, at: Revision) {
    this.#index = index;
    this.#at = at;
  }

  head(key: Uint8Array): VersionSlot {
    return this.#index.at(key, this.#at);
  }

  modRevision(version: VersionSlot): Revision {
    return this.#index.modRevision(version);
  }

  createRevision(version: VersionSlot): Revision {
    return this.#index.createRevision(version);
  }

  version(version: VersionSlot): number {
    return this.#index.version(version);
  }

  lease(version: VersionSlot): LeaseId {
    return this.#index.lease(version);
  }

  position(version: VersionSlot): LogPosition {
    return this.#index.position(version);
  }

  isTombstone(version: VersionSlot): boolean {
    return this.#index.isTombstone(version);
  }

  key(version: VersionSlot): Uint8Array {
    return this.#index.key(version);
  }

  bytes(version: VersionSlot): number {
    return this.#index.bytes(version);
  }

  collectSome(range: KeyRange, at: Revision, max: number, turn: Turn, into: VersionSlot[]): Uint8Array | undefined {
    return this.#index.collectSome(range, at, max, turn, into);
  }
}
