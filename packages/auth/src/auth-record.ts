import { assert, unreachable } from '@engram/core';
import { CoderError } from '@engram/coder';
import { Reader, WireError, Writer } from '@engram/protobuf';
import { applyAuthChange, type AuthChange, type AuthOutcome, type EndedTokens } from './auth-change.ts';
import type { AuthState } from './auth-state.ts';
import { PasswordHash } from './password-hash.ts';

/** A change as the log keeps it. */
export interface AuthRecord {
  /** The auth revision that the change led to. */
  readonly revision: number;
  readonly change: AuthChange;
}

/** A state after a record of the log, and which simple tokens have ended with it. */
export interface AuthTaken {
  readonly state: AuthState;
  readonly ended: EndedTokens;
}

/**
 * The state after a record of the log. A state that has the change already, as one from a checkpoint that is newer than
 * the record, stays as it is. A record that does not fit the state is a broken invariant: it was decided on that state.
 */
export function takeAuthRecord(state: AuthState, { revision, change }: AuthRecord): AuthTaken {
  const unchanged: AuthTaken = { state, ended: { of: 'nobody' } };
  if (change.kind === 'enable') {
    // Enabling takes no revision: at its own revision the state may have it or not, and doing it again changes nothing.
    if (revision < state.revision) return unchanged;
  } else if (revision <= state.revision) return unchanged;
  const outcome = applyAuthChange(state, change);
  if (outcome.kind === 'unchanged' && change.kind === 'enable') return unchanged;
  assert(outcome.kind === 'changed', `a record of the kind ${change.kind} does not fit the users and roles`);
  assert(
    outcome.state.revision === revision,
    `a record led to auth revision ${outcome.state.revision}, not ${revision}`,
  );
  return outcome;
}

/** The state of `takeAuthRecord`. */
export const replayAuthRecord = (state: AuthState, record: AuthRecord): AuthState =>
  takeAuthRecord(state, record).state;

/** The state after a record that another member says comes next. Undefined: no leader writes it on this state. */
export function followAuthRecord(state: AuthState, { revision, change }: AuthRecord): AuthState | undefined {
  const outcome: AuthOutcome = applyAuthChange(state, change);
  return outcome.kind === 'changed' && outcome.state.revision === revision ? outcome.state : undefined;
}

// Numbers are never reused: a log outlives the program that wrote it.
const kinds = {
  enable: 1,
  disable: 2,
  'user-add': 3,
  'user-delete': 4,
  'user-change-password': 5,
  'user-grant-role': 6,
  'user-revoke-role': 7,
  'role-add': 8,
  'role-delete': 9,
  'role-grant-permission': 10,
  'role-revoke-permission': 11,
} as const satisfies Record<AuthChange['kind'], number>;

/**
 * A record is: kind, revision, and the fields of the kind in their order, all of them. Numbers are varints; names and bytes
 * have their length before them. The caller owns the bytes.
 */
export function encodeAuthRecord({ revision, change }: AuthRecord): Uint8Array {
  const writer = new Writer(128);
  // The writer goes from the end to the beginning.
  writeFields(writer, change);
  writer.varint(revision);
  writer.varint(kinds[change.kind]);
  return writer.finish();
}

function writeFields(writer: Writer, change: AuthChange): void {
  switch (change.kind) {
    case 'enable':
    case 'disable':
      return;
    case 'user-add':
      writer.bytes((change.noPassword ? PasswordHash.none : change.password).reveal());
      writer.varint(change.noPassword ? 1 : 0);
      writer.string(change.name);
      return;
    case 'user-change-password':
      writer.bytes(change.password.reveal());
      writer.string(change.name);
      return;
    case 'user-grant-role':
    case 'user-revoke-role':
      writer.string(change.role);
      writer.string(change.user);
      return;
    case 'user-delete':
    case 'role-add':
    case 'role-delete':
      writer.string(change.name);
      return;
    case 'role-grant-permission':
      assert(change.permission !== undefined, 'a grant without a permission is refused, and has no record');
      writer.bytes(change.permission.range.end);
      writer.bytes(change.permission.range.key);
      writer.int64(change.permission.type);
      writer.string(change.role);
      return;
    case 'role-revoke-permission':
      writer.bytes(change.range.end);
      writer.bytes(change.range.key);
      writer.string(change.role);
      return;
    default:
      unreachable(change);
  }
}

/** Keys are views of `bytes`; a password's hash is a copy. Throws CoderError for damage and for unknown kinds. */
export function decodeAuthRecord(bytes: Uint8Array): AuthRecord {
  const reader = new Reader(bytes);
  const failure = (fault: string): CoderError => new CoderError('an auth record', fault, reader.at);
  try {
    const kind = reader.count();
    const revision = reader.count();
    const change = readChange(reader, kind, failure);
    if (reader.more()) throw failure('more bytes than it has');
    return { revision, change };
  } catch (error) {
    if (error instanceof WireError) throw failure(typeof error.cause === 'string' ? error.cause : error.message);
    throw error;
  }
}

function readChange(reader: Reader, kind: number, failure: (fault: string) => CoderError): AuthChange {
  switch (kind) {
    case kinds.enable:
      return { kind: 'enable' };
    case kinds.disable:
      return { kind: 'disable' };
    case kinds['user-add']: {
      const name = reader.string();
      const noPassword = reader.count();
      if (noPassword > 1) throw failure(`${noPassword} where 0 or 1 is due`);
      return { kind: 'user-add', name, noPassword: noPassword === 1, password: new PasswordHash(reader.bytes()) };
    }
    case kinds['user-delete']:
      return { kind: 'user-delete', name: reader.string() };
    case kinds['user-change-password']:
      return { kind: 'user-change-password', name: reader.string(), password: new PasswordHash(reader.bytes()) };
    case kinds['user-grant-role']:
      return { kind: 'user-grant-role', user: reader.string(), role: reader.string() };
    case kinds['user-revoke-role']:
      return { kind: 'user-revoke-role', user: reader.string(), role: reader.string() };
    case kinds['role-add']:
      return { kind: 'role-add', name: reader.string() };
    case kinds['role-delete']:
      return { kind: 'role-delete', name: reader.string() };
    case kinds['role-grant-permission']: {
      const role = reader.string();
      const type = reader.int32();
      return { kind: 'role-grant-permission', role, permission: { type, range: readRange(reader) } };
    }
    case kinds['role-revoke-permission']:
      return { kind: 'role-revoke-permission', role: reader.string(), range: readRange(reader) };
    default:
      throw failure(`unknown kind ${kind}`);
  }
}

const readRange = (reader: Reader) => ({ key: reader.bytes(), end: reader.bytes() });
