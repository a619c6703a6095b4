import type { ErrorCode } from '@engram/core';
import type { AuthState } from './auth-state.ts';
import { PasswordHash } from './password-hash.ts';

/** bcrypt takes no more (golang.org/x/crypto/bcrypt: ErrPasswordTooLong). Bytes of UTF-8. */
export const PASSWORD_BYTES_MAX = 72;

/** Port to a library of bcrypt. It works outside of the event loop: a hash takes tens of milliseconds. */
export interface PasswordHasher {
  /** With a new salt and the configured cost. At most PASSWORD_BYTES_MAX bytes. */
  hash(password: string): Promise<Uint8Array>;
  /** False also if `hash` is no hash. */
  matches(hash: Uint8Array, password: string): Promise<boolean>;
}

/** The hash for a new user or a new password. An empty password is hashed like any other, as etcd does for a new user. */
export async function hashPassword(
  password: string,
  hasher: PasswordHasher,
): Promise<{ readonly password: PasswordHash } | { readonly code: ErrorCode }> {
  if (Buffer.byteLength(password) > PASSWORD_BYTES_MAX) return { code: 'PasswordTooLong' };
  return { password: new PasswordHash(await hasher.hash(password)) };
}

/** Why a log-in is refused. An unknown user and a wrong password have the same code. */
export type LoginRefusal = Extract<ErrorCode, 'AuthNotEnabled' | 'AuthFailed' | 'NoPasswordUser'>;

/**
 * Checks a password (etcd: CheckPassword). Returns the auth revision at which it was right: who goes on with it calls
 * `refuseLogin` when the log-in is decided, and checks the password again if the revision is another one by then.
 */
export async function checkPassword(
  state: AuthState,
  name: string,
  password: string,
  hasher: PasswordHasher,
): Promise<{ readonly revision: number } | { readonly code: LoginRefusal }> {
  if (!state.enabled) return { code: 'AuthNotEnabled' };
  const user = state.users.get(name);
  if (user === undefined) return { code: 'AuthFailed' };
  if (user.noPassword) return { code: 'NoPasswordUser' };
  const hash = user.password.reveal();
  const matches = hash.length > 0 && (await hasher.matches(hash, password));
  return matches ? { revision: state.revision } : { code: 'AuthFailed' };
}

/**
 * Whether a user may have a token, in the state in which the log-in is decided (etcd: Authenticate). The password was
 * checked on an earlier state.
 */
export function refuseLogin(state: AuthState, name: string): LoginRefusal | undefined {
  if (!state.enabled) return 'AuthNotEnabled';
  const user = state.users.get(name);
  return user === undefined || user.noPassword ? 'AuthFailed' : undefined;
}
