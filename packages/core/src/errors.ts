/** gRPC status codes (grpc/grpc doc/statuscodes.md). */
export const GrpcCode = {
  OK: 0,
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  OUT_OF_RANGE: 11,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  DATA_LOSS: 15,
  UNAUTHENTICATED: 16,
} as const;

/**
 * Every reason to refuse a request, with etcd's gRPC code and text (etcd 3.7 api/v3rpc/rpctypes/error.go). Clients
 * compare the texts byte for byte: changing one is an API break. MemberNotEnoughStarted and TooManyRequests have code
 * UNKNOWN, as in etcd.
 */
export const errorTable = {
  EmptyKey: { grpc: 3, message: 'etcdserver: key is not provided' },
  KeyNotFound: { grpc: 3, message: 'etcdserver: key not found' },
  ValueProvided: { grpc: 3, message: 'etcdserver: value is provided' },
  LeaseProvided: { grpc: 3, message: 'etcdserver: lease is provided' },
  TooManyOps: { grpc: 3, message: 'etcdserver: too many operations in txn request' },
  DuplicateKey: { grpc: 3, message: 'etcdserver: duplicate key given in txn request' },
  InvalidClientAPIVersion: { grpc: 3, message: 'etcdserver: invalid client api version' },
  InvalidSortOption: { grpc: 3, message: 'etcdserver: invalid sort option' },
  Compacted: { grpc: 11, message: 'etcdserver: mvcc: required revision has been compacted' },
  FutureRev: { grpc: 11, message: 'etcdserver: mvcc: required revision is a future revision' },
  NoSpace: { grpc: 8, message: 'etcdserver: mvcc: database space exceeded' },
  LeaseNotFound: { grpc: 5, message: 'etcdserver: requested lease not found' },
  LeaseExist: { grpc: 9, message: 'etcdserver: lease already exists' },
  LeaseTTLTooLarge: { grpc: 11, message: 'etcdserver: too large lease TTL' },
  WatchCanceled: { grpc: 1, message: 'etcdserver: watch canceled' },
  MemberExist: { grpc: 9, message: 'etcdserver: member ID already exist' },
  PeerURLExist: { grpc: 9, message: 'etcdserver: Peer URLs already exists' },
  MemberNotEnoughStarted: { grpc: 2, message: 'etcdserver: re-configuration failed due to not enough started members' },
  MemberBadURLs: { grpc: 3, message: 'etcdserver: given member URLs are invalid' },
  MemberNotFound: { grpc: 5, message: 'etcdserver: member not found' },
  MemberNotLearner: { grpc: 9, message: 'etcdserver: can only promote a learner member' },
  LearnerNotReady: { grpc: 9, message: 'etcdserver: can only promote a learner member which is in sync with leader' },
  TooManyLearners: { grpc: 9, message: 'etcdserver: too many learner members in cluster' },
  ClusterIDMismatch: { grpc: 9, message: 'etcdserver: cluster ID mismatch' },
  RequestTooLarge: { grpc: 3, message: 'etcdserver: request is too large' },
  TooManyRequests: { grpc: 2, message: 'etcdserver: too many requests' },
  RootUserNotExist: { grpc: 9, message: 'etcdserver: root user does not exist' },
  RootRoleNotExist: { grpc: 9, message: 'etcdserver: root user does not have root role' },
  UserAlreadyExist: { grpc: 9, message: 'etcdserver: user name already exists' },
  UserEmpty: { grpc: 3, message: 'etcdserver: user name is empty' },
  UserNotFound: { grpc: 9, message: 'etcdserver: user name not found' },
  RoleAlreadyExist: { grpc: 9, message: 'etcdserver: role name already exists' },
  RoleNotFound: { grpc: 9, message: 'etcdserver: role name not found' },
  RoleEmpty: { grpc: 3, message: 'etcdserver: role name is empty' },
  AuthFailed: { grpc: 3, message: 'etcdserver: authentication failed, invalid user ID or password' },
  PermissionNotGiven: { grpc: 3, message: 'etcdserver: permission not given' },
  PermissionDenied: { grpc: 7, message: 'etcdserver: permission denied' },
  RoleNotGranted: { grpc: 9, message: 'etcdserver: role is not granted to the user' },
  PermissionNotGranted: { grpc: 9, message: 'etcdserver: permission is not granted to the role' },
  AuthNotEnabled: { grpc: 9, message: 'etcdserver: authentication is not enabled' },
  InvalidAuthToken: { grpc: 16, message: 'etcdserver: invalid auth token' },
  InvalidAuthMgmt: { grpc: 3, message: 'etcdserver: invalid auth management' },
  AuthOldRevision: { grpc: 3, message: 'etcdserver: revision of auth store is old' },
  // These three have no text of rpctypes: etcd passes on what its store, its tokens and its bcrypt say.
  NoPasswordUser: { grpc: 2, message: 'auth: authentication failed, password was given for no password user' },
  VerifyOnlyKey: { grpc: 2, message: 'auth: token signing attempted with verify-only key' },
  PasswordTooLong: { grpc: 2, message: 'bcrypt: password length exceeds 72 bytes' },
  NoLeader: { grpc: 14, message: 'etcdserver: no leader' },
  NotLeader: { grpc: 9, message: 'etcdserver: not leader' },
  LeaderChanged: { grpc: 14, message: 'etcdserver: leader changed' },
  NotCapable: { grpc: 9, message: 'etcdserver: not capable' },
  Stopped: { grpc: 14, message: 'etcdserver: server stopped' },
  Timeout: { grpc: 14, message: 'etcdserver: request timed out' },
  TimeoutDueToLeaderFail: {
    grpc: 14,
    message: 'etcdserver: request timed out, possibly due to previous leader failure',
  },
  TimeoutDueToConnectionLost: { grpc: 14, message: 'etcdserver: request timed out, possibly due to connection lost' },
  TimeoutWaitAppliedIndex: {
    grpc: 14,
    message: 'etcdserver: request timed out, waiting for the applied index took too long',
  },
  Unhealthy: { grpc: 14, message: 'etcdserver: unhealthy cluster' },
  Corrupt: { grpc: 15, message: 'etcdserver: corrupt cluster' },
  NotSupportedForLearner: { grpc: 9, message: 'etcdserver: rpc not supported for learner' },
  BadLeaderTransferee: { grpc: 9, message: 'etcdserver: bad leader transferee' },
  WrongDowngradeVersionFormat: { grpc: 3, message: 'etcdserver: wrong downgrade target version format' },
  InvalidDowngradeTargetVersion: { grpc: 3, message: 'etcdserver: invalid downgrade target version' },
  ClusterVersionUnavailable: { grpc: 9, message: 'etcdserver: cluster version not found during downgrade' },
  DowngradeInProcess: { grpc: 9, message: 'etcdserver: cluster has a downgrade job in progress' },
  NoInflightDowngrade: { grpc: 9, message: 'etcdserver: no inflight downgrade job' },
  // Not etcd's: an error of a member of another version. The text is that member's.
  Unknown: { grpc: 2, message: 'etcdserver: unknown error' },
  // Not etcd's: why a member of a cluster on TiKV does not lead.
  TimestampsWentBack: { grpc: 14, message: 'etcdserver: timestamps of storage went back' },
  // Not etcd's: a store that follows an etcd is read only, until it takes its place.
  Following: { grpc: 9, message: 'etcdserver: the store follows an etcd and takes no writes before the cut-over' },
  // Not etcd's: etcd does not bound the size of a response.
  ResponseTooLarge: { grpc: 8, message: 'etcdserver: response is too large' },
  Canceled: { grpc: 1, message: 'etcdserver: request canceled' },
  DeadlineExceeded: { grpc: 4, message: 'etcdserver: context deadline exceeded' },
} as const satisfies Record<string, { grpc: number; message: string }>;

export type ErrorCode = keyof typeof errorTable;

/** A request that cannot be served. `cause` says what failed below; clients see code and message only. */
export class EngramError extends Error {
  override readonly name = 'EngramError';
  readonly code: ErrorCode;

  /** `text` replaces the table's text. Only for `Unknown`: clients compare the others. */
  constructor(code: ErrorCode, options?: ErrorOptions & { readonly text?: string }) {
    super(options?.text ?? errorTable[code].message, options);
    this.code = code;
  }

  /** The gRPC status that a client gets. */
  get grpc(): number {
    return errorTable[this.code].grpc;
  }
}

export function isEngramError(error: unknown, code?: ErrorCode): error is EngramError {
  return error instanceof EngramError && (code === undefined || error.code === code);
}
