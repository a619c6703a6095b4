import { finish, type PureJob, type Turn, unhurried } from '@engram/loop';
import { IntervalSet } from './interval-set.ts';
import { NameTable } from './name-table.ts';
import type { PasswordHash } from './password-hash.ts';
import { type Permission, PermissionType } from './permission.ts';

/** The user without whom authentication cannot be enabled, and the role that permits everything. */
export const ROOT = 'root';

/** The auth revision of a store whose users and roles were never changed. */
export const FIRST_AUTH_REVISION = 1;

export interface User {
  readonly name: string;
  readonly password: PasswordHash;
  /** Such a user logs in with a client certificate only. */
  readonly noPassword: boolean;
  /** Names of roles, each once, in the order of `compareNames`. */
  readonly roles: readonly string[];
}

export interface Role {
  readonly name: string;
  /** In the order of the keys. */
  readonly permissions: readonly Permission[];
}

/** What a user may do: everything, or what its roles permit together. */
export type Rights =
  | { readonly root: true }
  | { readonly root: false; readonly read: IntervalSet; readonly write: IntervalSet };

interface KeySets {
  readonly read: IntervalSet;
  readonly write: IntervalSet;
}

/** Roles are immutable, so the sets of one are made once, by whichever state asks first. */
const setsOfRoles = new WeakMap<Role, KeySets>();

function setsOf(role: Role): KeySets {
  const made = setsOfRoles.get(role);
  if (made !== undefined) return made;
  const setFor = (one: number): IntervalSet =>
    IntervalSet.of(
      role.permissions
        .filter(({ type }) => type === one || type === PermissionType.READWRITE)
        .map(({ range }) => range),
    );
  const read = setFor(PermissionType.READ);
  const isSame = role.permissions.every(({ type }) => type === PermissionType.READWRITE);
  const sets = { read, write: isSame ? read : setFor(PermissionType.WRITE) };
  setsOfRoles.set(role, sets);
  return sets;
}

interface Parts {
  readonly enabled: boolean;
  /** One more with every change, except for that of `enabled` to true. At least 1. */
  readonly revision: number;
  readonly users: NameTable<User>;
  readonly roles: NameTable<Role>;
}

/**
 * Users, roles, and whether they count. Immutable: a change gives another state, so a leader can hold a decided state
 * beside the one that has taken effect.
 */
export class AuthState implements Parts {
  /** Authentication off, without users and roles. */
  static readonly first = new AuthState({
    enabled: false,
    revision: FIRST_AUTH_REVISION,
    users: NameTable.of<User>([]),
    roles: NameTable.of<Role>([]),
  });

  readonly enabled: boolean;
  readonly revision: number;
  readonly users: NameTable<User>;
  readonly roles: NameTable<Role>;
  /** Of the users that were asked for. A later state takes over those that its change leaves as they are. */
  readonly #rights: Map<string, Rights>;

  constructor({ enabled, revision, users, roles }: Parts, rights: Map<string, Rights> = new Map()) {
    this.enabled = enabled;
    this.revision = revision;
    this.users = users;
    this.roles = roles;
    this.#rights = rights;
  }

  /** Whether `rightsOf` only looks up the rights of this user. */
  hasRightsOf(name: string): boolean {
    return this.#rights.has(name);
  }

  /**
   * Undefined if there is no such user. The first call for a user joins the permissions of its roles, which takes a
   * while if there are very many; later calls look it up, also in later states as long as neither the user's roles nor
   * their permissions change.
   */
  rightsOf(name: string): Rights | undefined {
    return this.#rights.get(name) ?? finish(this.prepareRights(name, unhurried));
  }

  /** As `rightsOf`, for a user who may have very many permissions. Afterwards `rightsOf` only looks them up. */
  *prepareRights(name: string, turn: Turn): PureJob<Rights | undefined> {
    const known = this.#rights.get(name);
    if (known !== undefined) return known;
    const user = this.users.get(name);
    if (user === undefined) return undefined;
    const rights = yield* this.#join(user, turn);
    this.#rights.set(name, rights);
    return rights;
  }

  /** The state after a change. `isChanged` says whose roles, or whose roles' permissions, are others now. */
  next(change: Partial<Parts>, isChanged?: (user: User) => boolean): AuthState {
    const kept = new Map<string, Rights>();
    for (const [name, rights] of this.#rights) {
      const user = this.users.get(name);
      if (user !== undefined && isChanged?.(user) !== true) kept.set(name, rights);
    }
    const { enabled, revision, users, roles } = this;
    return new AuthState({ enabled, revision, users, roles, ...change }, kept);
  }

  *#join(user: User, turn: Turn): PureJob<Rights> {
    if (user.roles.includes(ROOT)) return { root: true };
    const sets: KeySets[] = [];
    for (const name of user.roles) {
      const role = this.roles.get(name);
      if (role === undefined) continue;
      sets.push(setsOf(role));
      if (turn.shouldYield(role.permissions.length)) yield;
    }
    const read = yield* IntervalSet.unite(
      sets.map((set) => set.read),
      turn,
    );
    // Roles often permit both or nothing: one set then.
    const isSame = sets.every((set) => set.read === set.write);
    if (isSame) return { root: false, read, write: read };
    const write = yield* IntervalSet.unite(
      sets.map((set) => set.write),
      turn,
    );
    return { root: false, read, write };
  }
}
