import type { BucketEntry } from '@engram/bbolt';
import {
  decodeKeyValue,
  encodeDeleteRecord,
  encodePutRecord,
  type KeyValue,
  keyValueSize,
  recordKv,
} from '@engram/coder';
import { keyText, type LogPosition, logPosition, NO_LEASE, type Revision, revision } from '@engram/core';
import { type KeyIndex, NO_VERSION } from '@engram/index';
import { damagedEntry, ImportError } from './import-error.ts';
import { type VersionKey, versionKey } from './version-key.ts';

/** The revision of a store in which nothing was written. The first write has the one after it. */
const EMPTY_REVISION = 1;

/**
 * Takes the versions of a database in the order of the history, and checks that it is one: above the compaction no
 * revision is missing, each key's versions count on from each other, and no key changes twice in a revision. At and below
 * it any may be missing, because a compaction that was interrupted has removed some of what it removes.
 */
export class History {
  readonly #index: KeyIndex;
  readonly #compacted: number;
  #last: VersionKey = { main: EMPTY_REVISION, sub: 0, tombstone: false };
  #next: LogPosition = logPosition(1);

  /** `compacted` is the compact revision of the database. The index gets the versions, and must be empty. */
  constructor(index: KeyIndex, compacted: Revision) {
    this.#index = index;
    this.#compacted = compacted;
  }

  /** The newest revision so far. The compaction may be above all that it has left. */
  get revision(): number {
    return Math.max(this.#last.main, this.#compacted);
  }

  /** The revision of the last entry. */
  get at(): number {
    return this.#last.main;
  }

  /** The position after the last record. */
  get next(): LogPosition {
    return this.#next;
  }

  /**
   * The record for an entry. Undefined for one that holds a revision and no key, as `etcdutl snapshot restore
   * --bump-revision` writes it. Throws ImportError damaged.
   */
  take(entry: BucketEntry): Uint8Array | undefined {
    const at = versionKey(entry.key);
    this.#checkOrder(at);
    this.#last = at;
    if (entry.value.length === 0 && !at.tombstone && at.main <= this.#compacted) return undefined;
    const kv = keyValue(at, entry.value);
    this.#checkKey(at, kv);
    const { main, sub, tombstone } = at;
    const record = tombstone ? encodeDeleteRecord(sub, kv.key, revision(main)) : encodePutRecord(sub, kv);
    this.#index.append(kv.key, {
      createRevision: revision(tombstone ? 0 : kv.createRevision),
      modRevision: revision(main),
      sub,
      version: tombstone ? 0 : kv.version,
      lease: tombstone ? NO_LEASE : kv.lease,
      tombstone,
      position: this.#next,
      bytes: tombstone ? recordKv(record).length : keyValueSize(kv),
    });
    this.#next = logPosition(this.#next + 1);
    return record;
  }

  #checkOrder(at: VersionKey): void {
    const { main, sub } = this.#last;
    if (at.main < main || (at.main === main && at.sub <= sub) || at.main === EMPTY_REVISION) {
      throw damagedEntry(`the revision ${text(at)} comes after ${text(this.#last)}`);
    }
    if (at.main <= this.#compacted) return;
    const due = at.main === main ? sub + 1 : 0;
    if (at.main > Math.max(main, this.#compacted) + 1 || at.sub !== due) {
      throw damagedEntry(`changes are missing between the revisions ${text(this.#last)} and ${text(at)}`);
    }
  }

  #checkKey(at: VersionKey, { key, createRevision, version }: KeyValue): void {
    const index = this.#index;
    const head = index.head(key);
    if (head === NO_VERSION && !index.hasRoomFor(1)) {
      throw new ImportError('too-large', `more keys than the index has room for, ${where(at, key)}`);
    }
    if (head !== NO_VERSION && index.modRevision(head) === at.main) {
      throw damagedEntry(`a second change ${where(at, key)}`);
    }
    if (at.main <= this.#compacted) return;
    const lives = head !== NO_VERSION && !index.isTombstone(head);
    if (at.tombstone) {
      if (!lives) throw damagedEntry(`a deletion of what is not there, ${where(at, key)}`);
      return;
    }
    const createdAt = lives ? index.createRevision(head) : at.main;
    const due = lives ? index.version(head) + 1 : 1;
    if (createRevision !== createdAt || version !== due) {
      throw damagedEntry(
        `version ${version}, created at ${createRevision}, follows none that is there, ${where(at, key)}`,
      );
    }
  }
}

function keyValue(at: VersionKey, value: Uint8Array): KeyValue {
  let kv: KeyValue;
  try {
    kv = decodeKeyValue(value);
  } catch (cause) {
    throw damagedEntry(`the value at ${text(at)} is no KeyValue`, { cause });
  }
  if (kv.key.length === 0) throw damagedEntry(`an empty key at ${text(at)}`);
  if (at.tombstone) return kv;
  if (kv.modRevision !== at.main) throw damagedEntry(`the KeyValue at ${text(at)} says revision ${kv.modRevision}`);
  if (kv.version < 1 || kv.createRevision <= EMPTY_REVISION || kv.createRevision > at.main) {
    throw damagedEntry(`the KeyValue at ${text(at)} has version ${kv.version}, created at ${kv.createRevision}`);
  }
  return kv;
}

const where = (at: VersionKey, key: Uint8Array): string =>
  `at ${text(at)}, of the key ${JSON.stringify(keyText(key.subarray(0, 100)))}`;

const text = ({ main, sub }: VersionKey): string => `${main}.${sub}`;
