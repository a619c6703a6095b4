// Users, roles, and their changes.
export { AuthState, FIRST_AUTH_REVISION, type Rights, type Role, ROOT, type User } from './src/auth-state.ts';
export { PasswordHash } from './src/password-hash.ts';
export { type Permission, PermissionType } from './src/permission.ts';
export {
  applyAuthChange,
  type AuthChange,
  type AuthOutcome,
  type ChangeRefusal,
  type EndedTokens,
} from './src/auth-change.ts';
export { compareNames, NameTable } from './src/name-table.ts';

// Their bytes: records of the log, and the buckets of etcd's database.
export {
  type AuthRecord,
  type AuthTaken,
  decodeAuthRecord,
  encodeAuthRecord,
  followAuthRecord,
  replayAuthRecord,
  takeAuthRecord,
} from './src/auth-record.ts';
export { decodeAuthState, encodeAuthState } from './src/auth-image.ts';
export { type AuthBuckets, type BucketEntries, decodeAuthBuckets, encodeAuthBuckets } from './src/auth-buckets.ts';

// Who may do what.
export {
  type AuthInfo,
  type AuthRefusal,
  nobody,
  refuseMovedRevision,
  refuseUnauthenticated,
  refuseUnlessRoot,
} from './src/auth-info.ts';
export { KeyAccess, type KeysOfLease } from './src/key-access.ts';
export {
  type CallRule,
  callRules,
  permissionsOf,
  refuseAlarm,
  refuseChange,
  refuseRoleGet,
  refuseUserGet,
  rolesOf,
} from './src/call-rules.ts';
export { IntervalSet } from './src/interval-set.ts';

// Who makes a call.
export { type Credentials, identify, presentedToken, type TokenProvider } from './src/credentials.ts';
export {
  SIMPLE_TOKEN_TTL_MS,
  simpleToken,
  simpleTokenIndex,
  simpleTokenPrefix,
  SimpleTokens,
  type SimpleTokensOptions,
  tokenDigest,
} from './src/simple-tokens.ts';
export { type JwtClaims, type JwtKeys, JwtTokens, type JwtTokensOptions } from './src/jwt-tokens.ts';
export {
  checkPassword,
  hashPassword,
  type LoginRefusal,
  type PasswordHasher,
  refuseLogin,
} from './src/passwords.ts';
