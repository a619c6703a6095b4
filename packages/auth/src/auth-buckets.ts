import { compareBytes, EMPTY_BYTES, equalBytes, utf8 } from '@engram/core';
import { CoderError } from '@engram/coder';
import { authpb, WireError } from '@engram/wire';
import { AuthState, FIRST_AUTH_REVISION, type Role, type User } from './auth-state.ts';
import { compareNames, NameTable } from './name-table.ts';
import { PasswordHash } from './password-hash.ts';

/** Entries of a bucket of etcd's database, in the order of their keys. */
export type BucketEntries = readonly (readonly [key: Uint8Array, value: Uint8Array])[];

/** Users and roles as etcd's database has them, a bucket each (etcd server/storage/schema: auth*.go). */
export interface AuthBuckets {
  /** `authEnabled` and `authRevision`. */
  readonly auth: BucketEntries;
  /** By name, an authpb.User each. */
  readonly authUsers: BucketEntries;
  /** By name, an authpb.Role each. */
  readonly authRoles: BucketEntries;
}

const ENABLED_KEY = utf8('authEnabled');
const REVISION_KEY = utf8('authRevision');
const ENABLED = Uint8Array.of(1);
const REVISION_BYTES = 8;
const names = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The values have the hashes of the passwords. */
export function encodeAuthBuckets(state: AuthState): AuthBuckets {
  return {
    // etcd has no entry either until authentication is enabled for the first time.
    auth: [...(state.enabled ? [[ENABLED_KEY, ENABLED] as const] : []), [REVISION_KEY, encodeRevision(state.revision)]],
    authUsers: state.users.rows.map((user) => [utf8(user.name), encoded(user, encodeUser)]),
    authRoles: state.roles.rows.map((role) => [utf8(role.name), encoded(role, encodeRole)]),
  };
}

/**
 * Entries may be in any order. What etcd has not written yet has its first value. Throws CoderError for damage: a value
 * that is no message, a name that is not UTF-8, is empty, or differs from its key.
 */
export function decodeAuthBuckets({ auth, authUsers, authRoles }: AuthBuckets): AuthState {
  const value = (key: Uint8Array) => auth.find((entry) => equalBytes(entry[0], key))?.[1];
  return new AuthState({
    enabled: equalBytes(value(ENABLED_KEY) ?? EMPTY_BYTES, ENABLED),
    revision: decodeRevision(value(REVISION_KEY)),
    users: NameTable.of(authUsers.map(([key, bytes]) => decodeUser(key, bytes))),
    roles: NameTable.of(authRoles.map(([key, bytes]) => decodeRole(key, bytes))),
  });
}

/** Rows are immutable, so one is encoded once: a role may have very many permissions, and checkpoints come again and again. */
const encodedRows = new WeakMap<User | Role, Uint8Array>();

function encoded<Row extends User | Role>(row: Row, encode: (row: Row) => Uint8Array): Uint8Array {
  const known = encodedRows.get(row);
  if (known !== undefined) return known;
  const bytes = encode(row);
  encodedRows.set(row, bytes);
  return bytes;
}

const encodeUser = ({ name, password, noPassword, roles }: User): Uint8Array =>
  authpb.encodeUser({ name: utf8(name), password: password.reveal(), roles: [...roles], options: { noPassword } });

const encodeRole = ({ name, permissions }: Role): Uint8Array =>
  authpb.encodeRole({
    name: utf8(name),
    keyPermission: permissions.map(({ type, range }) => ({ permType: type, key: range.key, rangeEnd: range.end })),
  });

function decodeUser(key: Uint8Array, bytes: Uint8Array): User {
  const user = decoded('a user', bytes, authpb.decodeUser);
  return {
    name: nameOf('a user', key, user.name),
    password: new PasswordHash(user.password),
    noPassword: user.options?.noPassword === true,
    roles: [...new Set(user.roles)].sort(compareNames),
  };
}

function decodeRole(key: Uint8Array, bytes: Uint8Array): Role {
  const role = decoded('a role', bytes, authpb.decodeRole);
  return {
    name: nameOf('a role', key, role.name),
    permissions: role.keyPermission
      // The bytes are a view of the bucket's.
      .map(({ permType, key, rangeEnd }) => ({ type: permType, range: { key: key.slice(), end: rangeEnd.slice() } }))
      .sort((left, right) => compareBytes(left.range.key, right.range.key)),
  };
}

function decoded<Message>(what: string, bytes: Uint8Array, decode: (bytes: Uint8Array) => Message): Message {
  try {
    return decode(bytes);
  } catch (error) {
    if (error instanceof WireError) throw new CoderError(what, error.message, 0);
    throw error;
  }
}

function nameOf(what: string, key: Uint8Array, name: Uint8Array): string {
  if (name.length === 0) throw new CoderError(what, 'no name', 0);
  if (!equalBytes(key, name)) throw new CoderError(what, 'a name that is not its key', 0);
  try {
    return names.decode(name);
  } catch {
    throw new CoderError(what, 'a name that is not UTF-8', 0);
  }
}

function encodeRevision(revision: number): Uint8Array {
  const bytes = new Uint8Array(REVISION_BYTES);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(revision));
  return bytes;
}

/** None, or 0, is a store in which etcd has not begun to count. */
function decodeRevision(bytes: Uint8Array = EMPTY_BYTES): number {
  if (bytes.length === 0) return FIRST_AUTH_REVISION;
  if (bytes.length !== REVISION_BYTES) throw new CoderError('an auth revision', `${bytes.length} bytes`, 0);
  const revision = new DataView(bytes.buffer, bytes.byteOffset, REVISION_BYTES).getBigUint64(0);
  if (revision > BigInt(Number.MAX_SAFE_INTEGER))
    throw new CoderError('an auth revision', 'a number above 2^53 - 1', 0);
  return Math.max(Number(revision), FIRST_AUTH_REVISION);
}
