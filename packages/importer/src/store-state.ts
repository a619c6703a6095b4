import { AuthState, type BucketEntries, decodeAuthBuckets } from '@engram/auth';
import { type CheckpointLease, CoderError } from '@engram/coder';
import { leaseId, type LeaseId, NO_REVISION, type Revision, revision } from '@engram/core';
import { etcdserverpb, leasepb } from '@engram/wire';
import { damagedEntry, ImportError } from './import-error.ts';
import { versionKey } from './version-key.ts';

/** The entries of one bucket. */
export type Entries = readonly { readonly key: Uint8Array; readonly value: Uint8Array }[];

/** What a database has beside the versions of its keys. */
export interface StoreState {
  /** NO_REVISION if nothing was compacted. What a compaction that was scheduled has not removed yet, counts as removed. */
  readonly compactRevision: Revision;
  readonly leases: ReadonlyMap<LeaseId, CheckpointLease>;
  readonly alarms: readonly { readonly memberId: bigint; readonly alarm: number }[];
  /** "3.6.0"; undefined from an etcd before 3.6. */
  readonly storageVersion: string | undefined;
  readonly auth: AuthState;
}

/** etcd server/storage/schema/bucket.go. */
export const KEY_BUCKET = 'key';
const META_BUCKET = 'meta';
/** Of the membership and of Raft, which a restored store has new. */
const FORGOTTEN_BUCKETS = ['members', 'members_removed', 'cluster'] as const;
const STATE_BUCKETS = ['lease', 'alarm', 'auth', 'authUsers', 'authRoles'] as const;
const knownBuckets: ReadonlySet<string> = new Set([KEY_BUCKET, META_BUCKET, ...STATE_BUCKETS, ...FORGOTTEN_BUCKETS]);

const LEASE_KEY_BYTES = 8;
/** NOSPACE and CORRUPT. */
const KNOWN_ALARMS: ReadonlySet<number> = new Set([1, 2]);

/** Throws ImportError not-etcd or foreign-version. What an unknown bucket means cannot be kept. */
export function checkBuckets(names: readonly string[]): void {
  for (const name of [KEY_BUCKET, META_BUCKET]) {
    if (!names.includes(name)) throw new ImportError('not-etcd', `no database of etcd: it has no bucket ${name}`);
  }
  const unknown = names.filter((name) => !knownBuckets.has(name));
  if (unknown.length > 0) {
    throw new ImportError('foreign-version', `buckets that are not known here: ${unknown.join(', ')}`);
  }
}

/** Throws ImportError damaged. */
export function storeState(buckets: ReadonlyMap<string, Entries>, dropAuth: boolean): StoreState {
  const entriesOf = (name: string): Entries => buckets.get(name) ?? [];
  const meta = new Map(entriesOf(META_BUCKET).map(({ key, value }) => [Buffer.from(key).toString('latin1'), value]));
  const version = meta.get('storageVersion');
  return {
    compactRevision: compactRevision(meta),
    leases: leases(entriesOf('lease')),
    alarms: entriesOf('alarm').map(({ key }) => {
      const { memberID: memberId, alarm } = decoded('alarm', () => etcdserverpb.decodeAlarmMember(key));
      if (!KNOWN_ALARMS.has(alarm)) throw new ImportError('foreign-version', `an alarm of the unknown kind ${alarm}`);
      return { memberId, alarm };
    }),
    storageVersion: version && Buffer.from(version).toString('latin1'),
    auth: dropAuth ? AuthState.first : authState(entriesOf),
  };
}

function authState(entriesOf: (name: string) => Entries): AuthState {
  const pairs = (name: string): BucketEntries => entriesOf(name).map(({ key, value }) => [key, value]);
  try {
    return decodeAuthBuckets({ auth: pairs('auth'), authUsers: pairs('authUsers'), authRoles: pairs('authRoles') });
  } catch (cause) {
    if (cause instanceof CoderError) throw damagedEntry('users and roles cannot be decoded', { cause });
    throw cause;
  }
}

/** A compaction is scheduled, done, and then noted as finished. A start finishes one that is not (etcd kvstore.go: restore). */
function compactRevision(meta: ReadonlyMap<string, Uint8Array>): Revision {
  const at = (name: string): number => {
    const bytes = meta.get(name);
    return bytes === undefined ? 0 : versionKey(bytes).main;
  };
  const compacted = Math.max(at('scheduledCompactRev'), at('finishedCompactRev'));
  return compacted === 0 ? NO_REVISION : revision(compacted);
}

function leases(entries: Entries): ReadonlyMap<LeaseId, CheckpointLease> {
  const found = new Map<LeaseId, CheckpointLease>();
  for (const { key, value } of entries) {
    const { ID, TTL, RemainingTTL } = decoded('lease', () => leasepb.decodeLease(value));
    const keyed = key.length === LEASE_KEY_BYTES ? Buffer.from(key).readBigInt64BE() : 0n;
    if (ID === 0n || keyed !== ID) throw damagedEntry(`the lease ${ID} is stored as ${keyed}`);
    if (TTL < 1 || !Number.isSafeInteger(TTL)) throw damagedEntry(`the lease ${ID} has a TTL of ${TTL}`);
    const remainingSeconds = RemainingTTL > 0 && RemainingTTL < TTL ? RemainingTTL : TTL;
    found.set(leaseId(ID), { id: leaseId(ID), ttlSeconds: TTL, remainingSeconds });
  }
  return found;
}

function decoded<Message>(bucket: string, decode: () => Message): Message {
  try {
    return decode();
  } catch (cause) {
    throw damagedEntry(`an entry of the bucket ${bucket} cannot be decoded`, { cause });
  }
}
