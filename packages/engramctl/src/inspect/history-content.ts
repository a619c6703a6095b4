import type { mvccpb } from '@engram/wire';
import { CtlError } from '../cli/ctl-error.ts';
import { NewestVersions } from './newest-versions.ts';
import type { OldVersion, StoreContent, StoredKey, StoredPage } from './stored-key.ts';

/** A change of a key, as a history has it. The bytes are valid until the next page is asked for. */
export interface Version {
  readonly kv: mvccpb.KeyValue;
  readonly modRevision: number;
  readonly tombstone: boolean;
}

/** What keeps every version that is not compacted. */
export interface History {
  readonly compactRevision: number;
  /** All versions, a page at a time, always in the same order, in which the newest of a key is its last. May be read twice. */
  pages(): AsyncIterable<readonly Version[]>;
}

/**
 * The keys of a history that begin with the prefix, and what it keeps beside them. The history is read twice. Held are a page of it
 * and 24 to 48 bytes for each key. Rejects with CtlError invalid-input if there are too many keys.
 */
export async function historyContent(name: string, history: History, prefix: Uint8Array): Promise<StoreContent> {
  const newest = new NewestVersions();
  let revision = 1;
  let at = 0;
  for await (const page of history.pages()) {
    for (const { kv, modRevision } of page) {
      revision = Math.max(revision, modRevision);
      if (!newest.note(kv.key, at))
        throw new CtlError('invalid-input', `${name}: more keys than can be told apart here`);
      at += 1;
    }
  }
  const { compactRevision } = history;
  return {
    name,
    revision: Math.max(revision, compactRevision),
    compactRevision: compactRevision > 0 ? compactRevision : undefined,
    pages: storedPages(history, newest, prefix),
  };
}

async function* storedPages(history: History, newest: NewestVersions, prefix: Uint8Array): AsyncGenerator<StoredPage> {
  let at = 0;
  for await (const page of history.pages()) {
    const keys: StoredKey[] = [];
    const old: OldVersion[] = [];
    for (const { kv, tombstone } of page) {
      const { key, value } = kv;
      const isNewest = newest.isNewest(key, at);
      at += 1;
      if (Buffer.compare(key.subarray(0, prefix.length), prefix) !== 0) continue;
      if (!tombstone && isNewest) keys.push(kv);
      else old.push({ key, valueBytes: value.length, deletion: tombstone });
    }
    yield { keys, old };
  }
}
