import { type AuthChange, decodeAuthRecord, type Permission, PermissionType } from '@engram/auth';
import { type ErrorCode, type KeyRange, keyText } from '@engram/core';
import type { LoggedWrite, StoreHistory } from '@engram/sim/model';
import { expectThat } from '../judge/finding.ts';

/** A permission, with keys as texts. `end` is undefined without an upper bound. */
interface Span {
  readonly start: string;
  readonly end: string | undefined;
}

interface HeldPermission {
  readonly read: boolean;
  readonly write: boolean;
  /** The range as it was granted, which names it. */
  readonly range: string;
  readonly granted: KeyRange;
  readonly span: Span;
}

interface ModelUser {
  readonly roles: ReadonlySet<string>;
  /** What the hasher made of the password. Undefined: the user has none. */
  readonly hash: string | undefined;
}

/** Users and roles as the log defines them, in the simplest way: the rules of etcd once more, beside those of package auth. */
export interface UsersState {
  readonly enabled: boolean;
  readonly revision: number;
  readonly users: ReadonlyMap<string, ModelUser>;
  readonly roles: ReadonlyMap<string, readonly HeldPermission[]>;
}

export type ModelOutcome =
  | { readonly kind: 'changed'; readonly state: UsersState }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'refused'; readonly code: ErrorCode };

const ROOT = 'root';
const { READ, WRITE } = PermissionType;
const FIRST: UsersState = { enabled: false, revision: 1, users: new Map(), roles: new Map() };
/** Behind every other text that is not longer: the least key above `key` is `key` and this. */
const NEXT = '\0';

const refused = (code: ErrorCode): ModelOutcome => ({ kind: 'refused', code });
const UNCHANGED: ModelOutcome = { kind: 'unchanged' };

function put<Value>(map: ReadonlyMap<string, Value>, name: string, value: Value | undefined): Map<string, Value> {
  const copy = new Map(map);
  if (value === undefined) copy.delete(name);
  else copy.set(name, value);
  return copy;
}

/** etcd server/auth/store.go, in its order of checks. */
export function changeUsers(state: UsersState, change: AuthChange): ModelOutcome {
  const next = (parts: Partial<UsersState>): ModelOutcome => ({
    kind: 'changed',
    state: { ...state, revision: state.revision + 1, ...parts },
  });
  const withUser = (name: string, user: ModelUser | undefined): ModelOutcome =>
    next({ users: put(state.users, name, user) });
  const withRole = (name: string, held: readonly HeldPermission[]): ModelOutcome =>
    next({ roles: put(state.roles, name, held) });
  switch (change.kind) {
    case 'enable': {
      if (state.enabled) return UNCHANGED;
      const root = state.users.get(ROOT);
      if (root === undefined) return refused('RootUserNotExist');
      return root.roles.has(ROOT) ? next({ enabled: true, revision: state.revision }) : refused('RootRoleNotExist');
    }
    case 'disable':
      return state.enabled ? next({ enabled: false }) : UNCHANGED;
    case 'user-add':
      if (state.users.has(change.name)) return refused('UserAlreadyExist');
      return withUser(change.name, { roles: new Set(), hash: hashOf(change) });
    case 'user-delete':
      if (state.enabled && change.name === ROOT) return refused('InvalidAuthMgmt');
      return state.users.has(change.name) ? withUser(change.name, undefined) : refused('UserNotFound');
    case 'user-change-password': {
      const user = state.users.get(change.name);
      if (user === undefined) return refused('UserNotFound');
      return withUser(change.name, user.hash === undefined ? user : { ...user, hash: hashOf(change) });
    }
    case 'user-grant-role': {
      const user = state.users.get(change.user);
      if (user === undefined) return refused('UserNotFound');
      if (change.role !== ROOT && !state.roles.has(change.role)) return refused('RoleNotFound');
      if (user.roles.has(change.role)) return UNCHANGED;
      return withUser(change.user, { ...user, roles: new Set([...user.roles, change.role]) });
    }
    case 'user-revoke-role': {
      if (state.enabled && change.user === ROOT && change.role === ROOT) return refused('InvalidAuthMgmt');
      const user = state.users.get(change.user);
      if (user === undefined) return refused('UserNotFound');
      if (!user.roles.has(change.role)) return refused('RoleNotGranted');
      return withUser(change.user, { ...user, roles: without(user.roles, change.role) });
    }
    case 'role-add':
      return state.roles.has(change.name) ? refused('RoleAlreadyExist') : withRole(change.name, []);
    case 'role-delete': {
      if (state.enabled && change.name === ROOT) return refused('InvalidAuthMgmt');
      if (!state.roles.has(change.name)) return refused('RoleNotFound');
      const users = new Map(
        [...state.users].map(([name, user]) => [name, { ...user, roles: without(user.roles, change.name) }] as const),
      );
      return next({ users, roles: put(state.roles, change.name, undefined) });
    }
    case 'role-grant-permission': {
      const { permission } = change;
      if (permission === undefined) return refused('PermissionNotGiven');
      const given = heldPermission(permission);
      const { span } = given;
      if (span.start === '' || (span.end !== undefined && span.end <= span.start)) return refused('InvalidAuthMgmt');
      const held = state.roles.get(change.role);
      if (held === undefined) return refused('RoleNotFound');
      return withRole(change.role, [...held.filter((one) => one.range !== given.range), given]);
    }
    case 'role-revoke-permission': {
      const held = state.roles.get(change.role);
      if (held === undefined) return refused('RoleNotFound');
      const left = held.filter((one) => one.range !== nameOf(change.range));
      return left.length === held.length ? refused('PermissionNotGranted') : withRole(change.role, left);
    }
  }
}

/** Whether there is no use in asking for the change: it is in effect, or refused. A permission that is granted again is a change of nothing. */
export function isMade(state: UsersState, change: AuthChange): boolean {
  if (changeUsers(state, change).kind !== 'changed') return true;
  if (change.kind !== 'role-grant-permission' || change.permission === undefined) return false;
  const { range, read, write } = heldPermission(change.permission);
  const held = state.roles.get(change.role)?.find((one) => one.range === range);
  return held !== undefined && held.read === read && held.write === write;
}

export const heldPermission = ({ type, range }: Permission): HeldPermission => ({
  read: type !== WRITE,
  write: type !== READ,
  range: nameOf(range),
  granted: range,
  span: spanOf(range),
});

const hashOf = (change: Extract<AuthChange, { kind: 'user-add' | 'user-change-password' }>): string | undefined =>
  change.kind === 'user-add' && change.noPassword
    ? undefined
    : Buffer.from(change.password.reveal()).toString('latin1');

const without = (names: ReadonlySet<string>, name: string): ReadonlySet<string> =>
  new Set([...names].filter((one) => one !== name));

const nameOf = ({ key, end }: KeyRange): string => JSON.stringify([keyText(key), keyText(end)]);

/** As the range of a permission: one key, or up to a bound, or to the last key. */
function spanOf({ key, end }: KeyRange): Span {
  const start = keyText(key);
  const bound = keyText(end);
  return { start, end: bound === '' ? start + NEXT : bound === NEXT ? undefined : bound };
}

/** Undefined for an unknown user. */
export function isRoot(state: UsersState, user: string): boolean | undefined {
  return state.users.get(user)?.roles.has(ROOT);
}

/**
 * Whether the user's roles together permit the whole range, without a gap. A range that has no keys needs its first key. Root is not
 * looked at.
 */
export function holds(state: UsersState, user: string, what: 'read' | 'write', range: KeyRange): boolean {
  const spans = [...(state.users.get(user)?.roles ?? [])]
    .flatMap((role) => state.roles.get(role) ?? [])
    .filter((held) => held[what])
    .map(({ span }) => span);
  let { start: from, end: to } = spanOf(range);
  if (to !== undefined && to <= from) to = from + NEXT;
  while (to === undefined || from < to) {
    const covering = spans.filter(({ start, end }) => start <= from && (end === undefined || from < end));
    if (covering.length === 0) return false;
    if (covering.some(({ end }) => end === undefined)) return true;
    from = covering
      .map(({ end }) => end!)
      .sort()
      .at(-1)!;
  }
  return true;
}

/** A state, and the position of the log from which on it holds. */
export interface UsersSince {
  readonly from: number;
  readonly state: UsersState;
}

/** A change of the log, with the position after its record. */
interface LoggedChange {
  readonly next: number;
  readonly change: AuthChange;
}

/** Users and roles at every position of the log. */
export class UsersHistory {
  readonly #history: StoreHistory;
  readonly #states: UsersSince[] = [{ from: 1, state: FIRST }];
  readonly #changes: LoggedChange[] = [];
  #taken = 0;

  constructor(history: StoreHistory) {
    this.#history = history;
  }

  /** When everything before the position has taken effect. */
  at(position: number): UsersState {
    return this.since(position).state;
  }

  since(position: number): UsersSince {
    this.#catchUp();
    return this.#states.findLast(({ from }) => from <= position)!;
  }

  get newest(): UsersState {
    return this.at(this.#history.next);
  }

  /** The states that hold at some position from `from` to `to`, both included. */
  between(from: number, to: number): readonly UsersSince[] {
    const first = this.since(from);
    return [first, ...this.#states.filter((one) => one.from > from && one.from <= to)];
  }

  /** The position after the first record, at or behind `from`, with which the simple tokens of the user end. */
  tokensEnd(user: string, from: number): number {
    this.#catchUp();
    const end = this.#changes.find(
      ({ next, change }) =>
        next > from &&
        (change.kind === 'disable' ||
          ((change.kind === 'user-delete' || change.kind === 'user-change-password') && change.name === user)),
    );
    return end?.next ?? Number.POSITIVE_INFINITY;
  }

  #catchUp(): void {
    const { writes } = this.#history;
    for (; this.#taken < writes.length; this.#taken += 1) this.#take(writes[this.#taken]!);
  }

  #take({ mark, position, next }: LoggedWrite): void {
    if (mark?.kind !== 'auth') return;
    const { revision, change } = decodeAuthRecord(mark.change);
    const outcome = changeUsers(this.#states.at(-1)!.state, change);
    const found = outcome.kind === 'changed' ? outcome.state.revision : outcome.kind;
    expectThat(
      outcome.kind === 'changed' && outcome.state.revision === revision,
      'log',
      () => `record ${position}: ${change.kind} leads to auth revision ${revision}, and by the log to ${found}`,
    );
    this.#states.push({ from: next, state: outcome.state });
    this.#changes.push({ next, change });
  }
}

/** What a state has, as a text: to compare it with that of a store. */
export function textOfUsers({ enabled, revision, users, roles }: UsersState): string {
  const names = [...users].map(
    ([name, { roles: held, hash }]) => `${name}=${hash ?? '-'}:${[...held].sort().join(',')}`,
  );
  const held = [...roles].map(
    ([name, permissions]) =>
      `${name}:${permissions
        .map(({ range, read, write }) => `${range}${read ? 'r' : ''}${write ? 'w' : ''}`)
        .sort()
        .join(',')}`,
  );
  return `${enabled ? 'on' : 'off'} ${revision} ${names.sort().join(' ')} ${held.sort().join(' ')}`;
}
