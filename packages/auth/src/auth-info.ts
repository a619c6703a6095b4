import type { ErrorCode } from '@engram/core';
import type { AuthState } from './auth-state.ts';

/** Who makes a call (etcd: auth.AuthInfo). A caller of the store is one. */
export interface AuthInfo {
  /** Empty if there is none. */
  readonly user: string;
  /** The auth revision at which `user` was authenticated; 0 if nobody was. */
  readonly authRevision: number;
}

/** A call without a token and without a name from a certificate. */
export const nobody: AuthInfo = { user: '', authRevision: 0 };

/** Why a call is not permitted: codes of core's table, with etcd's gRPC codes and texts. */
export type AuthRefusal = Extract<ErrorCode, 'UserEmpty' | 'UserNotFound' | 'AuthOldRevision' | 'PermissionDenied'>;

/**
 * For calls of everybody who is authenticated, whatever the user's roles (etcd: requireAuthInfo). As in etcd, neither
 * the user nor the auth revision is looked up. Undefined: permitted.
 */
export function refuseUnauthenticated(state: AuthState, { authRevision }: AuthInfo): AuthRefusal | undefined {
  return state.enabled && authRevision === 0 ? 'UserEmpty' : undefined;
}

/**
 * For calls of users with the role root (etcd: IsAdminPermitted). The auth revision is not looked at: what counts is
 * the state when the call is decided. Undefined: permitted.
 */
export function refuseUnlessRoot(state: AuthState, { user }: AuthInfo): AuthRefusal | undefined {
  if (!state.enabled) return undefined;
  if (user === '') return 'UserEmpty';
  const rights = state.rightsOf(user);
  if (rights === undefined) return 'UserNotFound';
  return rights.root ? undefined : 'PermissionDenied';
}

/**
 * For a read that waited after its check: it may have begun with rights that the user has lost since (etcd:
 * doSerialize). Undefined: its answer may leave.
 */
export function refuseMovedRevision(state: AuthState, { authRevision }: AuthInfo): AuthRefusal | undefined {
  return authRevision !== 0 && authRevision !== state.revision ? 'AuthOldRevision' : undefined;
}
