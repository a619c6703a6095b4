import type { AuthState } from '@engram/auth';
import { heldPermission, type UsersState } from './users-model.ts';

/** The users and roles of a store, in the form of the model. */
export function usersOf({ enabled, revision, users, roles }: AuthState): UsersState {
  return {
    enabled,
    revision,
    users: new Map(
      users.rows.map(({ name, roles: held, password, noPassword }) => [
        name,
        { roles: new Set(held), hash: noPassword ? undefined : Buffer.from(password.reveal()).toString('latin1') },
      ]),
    ),
    roles: new Map(roles.rows.map(({ name, permissions }) => [name, permissions.map(heldPermission)])),
  };
}
