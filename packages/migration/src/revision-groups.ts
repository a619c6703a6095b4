import { keyText } from '@engram/core';
import type { etcdserverpb, mvccpb } from '@engram/wire';
import { MigrationError } from './migration-error.ts';
import type { Change, RevisionChanges } from './stores.ts';

/** The most bytes of one revision. An etcd takes requests of 1.5 MiB; the end of a lease may delete many keys. */
const REVISION_BYTES_MAX = 256 << 20;
/** What a change takes beside its bytes. */
const CHANGE_BYTES = 200;
const DELETE = 1;

/**
 * Puts the events of a watch together to whole revisions. A revision is whole when an event of the next one comes, or with the last
 * fragment of a message: etcd never spreads a revision over messages (server/storage/mvcc/watcher_group.go: eventBatch). A revision
 * that is not the next one, an event that etcd does not send, and a key that changes twice, throw MigrationError.
 */
export class RevisionGroups {
  readonly #bytesMax: number;
  #next: number;
  #mayBegin: boolean;
  #changes: Change[] = [];
  #keys = new Set<string>();
  #bytes = 0;

  /** `next` is the first revision that is due. With `mayBegin` the one behind it may be the first instead: it may be compacted. */
  constructor(next: number, mayBegin = false, bytesMax: number = REVISION_BYTES_MAX) {
    this.#next = next;
    this.#mayBegin = mayBegin;
    this.#bytesMax = bytesMax;
  }

  *take({ events, fragment }: etcdserverpb.WatchResponse): Generator<RevisionChanges> {
    for (const event of events) {
      const { kv } = event;
      if (kv === undefined || kv.key.length === 0) throw malformed(`an event without a key before ${this.#next}`);
      if (kv.modRevision === this.#next + 1) {
        if (this.#changes.length > 0) yield this.#close();
        else if (this.#mayBegin) this.#next += 1;
      }
      this.#mayBegin = false;
      if (kv.modRevision !== this.#next) {
        throw malformed(`the source shows revision ${kv.modRevision}, and ${this.#next} is due`);
      }
      this.#add(event, kv);
    }
    if (!fragment && this.#changes.length > 0) yield this.#close();
  }

  #add({ type }: mvccpb.Event, kv: mvccpb.KeyValue): void {
    const { key, value, lease, version, createRevision } = kv;
    const text = keyText(key);
    if (this.#keys.has(text)) throw malformed(`the key ${shown(key)} changes twice in revision ${this.#next}`);
    this.#bytes += key.length + value.length + CHANGE_BYTES;
    if (this.#bytes > this.#bytesMax) {
      throw new MigrationError('too-large', `revision ${this.#next} has more than ${this.#bytesMax} bytes`);
    }
    this.#keys.add(text);
    if (type === DELETE) this.#changes.push({ kind: 'delete', key });
    else this.#changes.push({ kind: 'put', key, value, lease, version, createRevision });
  }

  #close(): RevisionChanges {
    const whole = { revision: this.#next, changes: this.#changes };
    this.#next += 1;
    this.#changes = [];
    this.#keys = new Set();
    this.#bytes = 0;
    return whole;
  }
}

const malformed = (message: string): MigrationError => new MigrationError('malformed', message);

/** A key in a message for the operator. */
export const shown = (key: Uint8Array): string => JSON.stringify(keyText(key.subarray(0, 100)));
