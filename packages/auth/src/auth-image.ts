import { ByteReader, ByteWriter, CoderError } from '@engram/coder';
import { EMPTY_BYTES } from '@engram/core';
import { type BucketEntries, decodeAuthBuckets, encodeAuthBuckets } from './auth-buckets.ts';
import { AuthState } from './auth-state.ts';

/**
 * A state as checkpoints and images have it: for each of etcd's three buckets the number of its entries, then keys and
 * values, each with its length before it. Empty for the first state. The bytes have the hashes of the passwords.
 */
export function encodeAuthState(state: AuthState): Uint8Array {
  if (isFirst(state)) return EMPTY_BYTES;
  const { auth, authUsers, authRoles } = encodeAuthBuckets(state);
  const writer = new ByteWriter(1024);
  for (const entries of [auth, authUsers, authRoles]) {
    writer.varint(entries.length);
    for (const entry of entries) {
      for (const bytes of entry) {
        writer.varint(bytes.length);
        writer.bytes(bytes);
      }
    }
  }
  return writer.take();
}

/** Throws CoderError for damage. */
export function decodeAuthState(bytes: Uint8Array): AuthState {
  if (bytes.length === 0) return AuthState.first;
  const reader = new ByteReader(bytes, 'users and roles');
  const auth = readEntries(reader);
  const authUsers = readEntries(reader);
  const authRoles = readEntries(reader);
  reader.end();
  for (const entries of [authUsers, authRoles]) {
    const names = new Set(entries.map(([key]) => Buffer.from(key).toString('latin1')));
    if (names.size < entries.length) throw new CoderError('users and roles', 'a name that is there twice', reader.at);
  }
  return decodeAuthBuckets({ auth, authUsers, authRoles });
}

function readEntries(reader: ByteReader): BucketEntries {
  const entries: [Uint8Array, Uint8Array][] = [];
  for (let left = reader.varint(); left > 0; left -= 1) {
    const key = reader.slice(reader.varint());
    entries.push([key, reader.slice(reader.varint())]);
  }
  return entries;
}

const isFirst = ({ enabled, revision, users, roles }: AuthState): boolean =>
  !enabled && revision === AuthState.first.revision && users.rows.length === 0 && roles.rows.length === 0;
