import type { etcdserverpb } from '@engram/wire';

/** A change of one key, as the watch of an etcd shows it. */
export type Change =
  | {
      readonly kind: 'put';
      readonly key: Uint8Array;
      readonly value: Uint8Array;
      /** 0: none. */
      readonly lease: bigint;
      readonly version: number;
      readonly createRevision: number;
    }
  | { readonly kind: 'delete'; readonly key: Uint8Array };

/** What a key must be before a change. */
export type KeyCondition =
  | { readonly kind: 'absent' }
  | { readonly kind: 'lives' }
  | { readonly kind: 'at'; readonly version: number; readonly createRevision: number };

/** A deletion deletes a key that lives, and the versions of a key that lives are counted from its creation on. */
export function conditionOf(change: Change): KeyCondition {
  if (change.kind === 'delete') return { kind: 'lives' };
  const { version, createRevision } = change;
  return version === 1 ? { kind: 'absent' } : { kind: 'at', version: version - 1, createRevision };
}

/** All changes of one revision, in their order. No key is there twice. */
export interface RevisionChanges {
  readonly revision: number;
  readonly changes: readonly Change[];
}

/** What shows that a revision is here and that nothing came behind it which changed this key. */
export interface RevisionMark {
  readonly key: Uint8Array;
  /** 0: the key does not live. */
  readonly modRevision: number;
}

/**
 * Of a revision that only deletes, the mark is that a key is gone. `isNew` tells a key that may not have lived yet where all is in effect
 * that is known to be: that it is not there shows nothing. Undefined: there is no mark.
 */
export function markOf(
  { revision, changes }: RevisionChanges,
  isNew: (key: Uint8Array) => boolean,
): RevisionMark | undefined {
  const put = changes.findLast(({ kind }) => kind === 'put');
  if (put !== undefined) return { key: put.key, modRevision: revision };
  const gone = changes.find(({ key }) => !isNew(key));
  return gone === undefined ? undefined : { key: gone.key, modRevision: 0 };
}

/** What a living key has beside its value. */
export interface KeyHead {
  readonly version: number;
  readonly createRevision: number;
  readonly modRevision: number;
}

/** Users and roles change without a revision: only their own revision tells. */
export interface AuthMark {
  readonly enabled: boolean;
  readonly authRevision: number;
}

/** The store that is followed. All calls reject with MigrationError, and with the signal's reason. */
export interface Source {
  /**
   * What happens from a revision on, until the stream ends, which is an error. Messages without events come at least each second,
   * or the stream is ended: their header tells how far the source is.
   */
  watch(from: number, signal: AbortSignal): AsyncIterable<etcdserverpb.WatchResponse>;
  /** The newest revision that was acknowledged to anybody before the call. */
  revision(signal: AbortSignal): Promise<number>;
  /** How many keys live at a revision, which is the newest one or was it just now. */
  keys(revision: number, signal: AbortSignal): Promise<number>;
  leases(signal: AbortSignal): Promise<readonly bigint[]>;
  /** The TTL that was granted; undefined for a lease that is not there. */
  leaseTtl(id: bigint, signal: AbortSignal): Promise<number | undefined>;
  auth(signal: AbortSignal): Promise<AuthMark>;
}

/** The store that follows. Nobody else writes to it. */
export interface Target {
  /** Behind all that was given to be written before, also where there was no answer: nothing of that takes effect later. */
  revision(signal: AbortSignal): Promise<number>;
  /** In the order of the keys; undefined for a key that does not live. */
  heads(keys: readonly Uint8Array[], signal: AbortSignal): Promise<readonly (KeyHead | undefined)[]>;
  /**
   * Writes all changes as one transaction, if each key is here what it was at the source (`conditionOf`), and the revision `behind` is
   * here (`markOf`). Returns its revision, once it is durable; undefined if one of this is not so: nothing is written then.
   */
  write(changes: readonly Change[], behind: RevisionMark | undefined, signal: AbortSignal): Promise<number | undefined>;
  /** How many keys live at a revision, which is the newest one. */
  keys(revision: number, signal: AbortSignal): Promise<number>;
  /** With their granted TTLs. */
  leases(signal: AbortSignal): Promise<ReadonlyMap<bigint, number>>;
  /** Returns the granted TTL. */
  grant(id: bigint, ttlSeconds: number, signal: AbortSignal): Promise<number>;
  /** Of a lease without keys, so that no revision comes from it. */
  revoke(id: bigint, signal: AbortSignal): Promise<void>;
  hasKeys(id: bigint, signal: AbortSignal): Promise<boolean>;
  auth(signal: AbortSignal): Promise<AuthMark>;
}
