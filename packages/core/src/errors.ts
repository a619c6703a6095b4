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
 * compare the texts byte for byte: changing one is an API break. MemberNotEnoughStarted, TooManyRequests and
 * TimeoutLeaderTransfer have code UNKNOWN, as in etcd.
 */
export const errorTable = {
  EmptyKey: { grpc: GrpcCode.INVALID_ARGUMENT, message: 'etcdserver: key is not provided' },
  KeyNotFound: { grpc: GrpcCode.INVALID_ARGUMENT, message: 'etcdserver: key not found' },
  ValueProvided: { grpc: GrpcCode.INVALID_ARGUMENT, message: 'etcdserver: value is provided' },
  LeaseProvided: { grpc: GrpcCode.INVALID_ARGUMENT, message: 'etcdserver: lease is provided' },
  TooManyOps: { grpc: GrpcCode.INVALID_ARGUMENT, message: 'etcdserver: too many operations in txn request' },
  DuplicateKey: { grpc: GrpcCode.INVALID_ARGUMENT, message: 'etcdserver: duplicate key given in txn request' },
  InvalidClientAPIVersion: { grpc: GrpcCode.INVALID_ARGUMENT, message: 'etcdserver: invalid client api version' },
  InvalidSortOption: { grpc: GrpcCode.INVALID_ARGUMENT, message: 'etcdserver: invalid sort option' },
  Compacted: { grpc: GrpcCode.OUT_OF_RANGE, message: 'etcdserver: mvcc: required revision has been compacted' },
  FutureRev: { grpc: GrpcCode.OUT_OF_RANGE, message: 'etcdserver: mvcc: required revision is a future revision' },
  NoSpace: { grpc: GrpcCode.RESOURCE_EXHAUSTED, message: 'etcdserver: mvcc: database space exceeded' },
  LeaseNotFound: { grpc: GrpcCode.NOT_FOUND, message: 'etcdserver: requested lease not found' },
  LeaseExist: { grpc: GrpcCode.FAILED_PRECONDITION, message: 'etcdserver: lease already exists' },
  LeaseTTLTooLarge: { grpc: GrpcCode.OUT_OF_RANGE, message: 'etcdserver: too large lease TTL' },
  WatchCanceled: { grpc: GrpcCode.CANCELLED, message: 'etcdserver: watch canceled' },
  MemberExist: { grpc: GrpcCode.FAILED_PRECONDITION, message: 'etcdserver: member ID already exist' },
  PeerURLExist: { grpc: GrpcCode.FAILED_PRECONDITION, message: 'etcdserver: Peer URLs already exists' },
  MemberNotEnoughStarted: {
    grpc: GrpcCode.UNKNOWN,
    message: 'etcdserver: re-configuration failed due to not enough started members',
  },
  MemberBadURLs: { grpc: GrpcCode.INVALID_ARGUMENT, message: 'etcdserver: given member URLs are invalid' },
  MemberNotFound: { grpc: GrpcCode.NOT_FOUND, message: 'etcdserver: member not found' },
  MemberNotLearner: { grpc: GrpcCode.FAILED_PRECONDITION, message: 'etcdserver: can only promote a learner member' },
  LearnerNotReady: {
    grpc: GrpcCode.FAILED_PRECONDITION,
    message: 'etcdserver: can only promote a learner member which is in sync with leader',
  },
  TooManyLearners: { grpc: GrpcCode.FAILED_PRECONDITION, message: 'etcdserver: too many learner members in cluster' },
  ClusterIDMismatch: { grpc: GrpcCode.FAILED_PRECONDITION, message: 'etcdserver: cluster ID mismatch' },
  RequestTooLarge: { grpc: GrpcCode.INVALID_ARGUMENT, message: 'etcdserver: request is too large' },
  TooManyRequests: { grpc: GrpcCode.UNKNOWN, message: 'etcdserver: too many requests' },
  RootUserNotExist: { grpc: GrpcCode.FAILED_PRECONDITION, message: 'etcdserver: root user does not exist' },
  RootRoleNotExist: { grpc: GrpcCode.FAILED_PRECONDITION, message: 'etcdserver: root user does not have root role' },
  UserAlreadyExist: { grpc: GrpcCode.FAILED_PRECONDITION, message: 'etcdserver: user name already exists' },
  UserEmpty: { grpc: GrpcCode.INVALID_ARGUMENT, message: 'etcdserver: user name is empty' },
  UserNotFound: { grpc: GrpcCode.FAILED_PRECONDITION, message: 'etcdserver: user name not found' },
  RoleAlreadyExist: { grpc: GrpcCode.FAILED_PRECONDITION, message: 'etcdserver: role name already exists' },
  RoleNotFound: { grpc: GrpcCode.FAILED_PRECONDITION, message: 'etcdserver: role name not found' },
  RoleEmpty: { grpc: GrpcCode.INVALID_ARGUMENT, message: 'etcdserver: role name is empty' },
  AuthFailed: {
    grpc: GrpcCode.INVALID_ARGUMENT,
    message: 'etcdserver: authentication failed, invalid user ID or password',
  },
  PermissionNotGiven: { grpc: GrpcCode.INVALID_ARGUMENT, message: 'etcdserver: permission not given' },
  PermissionDenied: { grpc: GrpcCode.PERMISSION_DENIED, message: 'etcdserver: permission denied' },
  RoleNotGranted: { grpc: GrpcCode.FAILED_PRECONDITION, message: 'etcdserver: role is not granted to the user' },
  PermissionNotGranted: {
    grpc: GrpcCode.FAILED_PRECONDITION,
    message: 'etcdserver: permission is not granted to the role',
  },
  AuthNotEnabled: { grpc: GrpcCode.FAILED_PRECONDITION, message: 'etcdserver: authentication is not enabled' },
  InvalidAuthToken: { grpc: GrpcCode.UNAUTHENTICATED, message: 'etcdserver: invalid auth token' },
  InvalidAuthMgmt: { grpc: GrpcCode.INVALID_ARGUMENT, message: 'etcdserver: invalid auth management' },
  AuthOldRevision: { grpc: GrpcCode.INVALID_ARGUMENT, message: 'etcdserver: revision of auth store is old' },
  // These three have no text of rpctypes: etcd passes on what its store, its tokens and its bcrypt say.
  NoPasswordUser: {
    grpc: GrpcCode.UNKNOWN,
    message: 'auth: authentication failed, password was given for no password user',
  },
  VerifyOnlyKey: { grpc: GrpcCode.UNKNOWN, message: 'auth: token signing attempted with verify-only key' },
  PasswordTooLong: { grpc: GrpcCode.UNKNOWN, message: 'bcrypt: password length exceeds 72 bytes' },
  NoLeader: { grpc: GrpcCode.UNAVAILABLE, message: 'etcdserver: no leader' },
  NotLeader: { grpc: GrpcCode.FAILED_PRECONDITION, message: 'etcdserver: not leader' },
  LeaderChanged: { grpc: GrpcCode.UNAVAILABLE, message: 'etcdserver: leader changed' },
  NotCapable: { grpc: GrpcCode.FAILED_PRECONDITION, message: 'etcdserver: not capable' },
  Stopped: { grpc: GrpcCode.UNAVAILABLE, message: 'etcdserver: server stopped' },
  Timeout: { grpc: GrpcCode.UNAVAILABLE, message: 'etcdserver: request timed out' },
  TimeoutDueToLeaderFail: {
    grpc: GrpcCode.UNAVAILABLE,
    message: 'etcdserver: request timed out, possibly due to previous leader failure',
  },
  TimeoutDueToConnectionLost: {
    grpc: GrpcCode.UNAVAILABLE,
    message: 'etcdserver: request timed out, possibly due to connection lost',
  },
  TimeoutWaitAppliedIndex: {
    grpc: GrpcCode.UNAVAILABLE,
    message: 'etcdserver: request timed out, waiting for the applied index took too long',
  },
  TimeoutLeaderTransfer: {
    grpc: GrpcCode.UNKNOWN,
    message: 'etcdserver: request timed out, leader transfer took too long',
  },
  Unhealthy: { grpc: GrpcCode.UNAVAILABLE, message: 'etcdserver: unhealthy cluster' },
  Corrupt: { grpc: GrpcCode.DATA_LOSS, message: 'etcdserver: corrupt cluster' },
  NotSupportedForLearner: { grpc: GrpcCode.FAILED_PRECONDITION, message: 'etcdserver: rpc not supported for learner' },
  BadLeaderTransferee: { grpc: GrpcCode.FAILED_PRECONDITION, message: 'etcdserver: bad leader transferee' },
  WrongDowngradeVersionFormat: {
    grpc: GrpcCode.INVALID_ARGUMENT,
    message: 'etcdserver: wrong downgrade target version format',
  },
  InvalidDowngradeTargetVersion: {
    grpc: GrpcCode.INVALID_ARGUMENT,
    message: 'etcdserver: invalid downgrade target version',
  },
  ClusterVersionUnavailable: {
    grpc: GrpcCode.FAILED_PRECONDITION,
    message: 'etcdserver: cluster version not found during downgrade',
  },
  DowngradeInProcess: {
    grpc: GrpcCode.FAILED_PRECONDITION,
    message: 'etcdserver: cluster has a downgrade job in progress',
  },
  NoInflightDowngrade: { grpc: GrpcCode.FAILED_PRECONDITION, message: 'etcdserver: no inflight downgrade job' },
  // Not etcd's: an error of a member of another version. The text is that member's.
  Unknown: { grpc: GrpcCode.UNKNOWN, message: 'etcdserver: unknown error' },
  // Not etcd's: why a member of a cluster on TiKV does not lead.
  TimestampsWentBack: { grpc: GrpcCode.UNAVAILABLE, message: 'etcdserver: timestamps of storage went back' },
  // Not etcd's: a store that follows an etcd is read only, until it takes its place.
  Following: {
    grpc: GrpcCode.FAILED_PRECONDITION,
    message: 'etcdserver: the store follows an etcd and takes no writes before the cut-over',
  },
  // Not etcd's: etcd does not bound the size of a response.
  ResponseTooLarge: { grpc: GrpcCode.RESOURCE_EXHAUSTED, message: 'etcdserver: response is too large' },
  Canceled: { grpc: GrpcCode.CANCELLED, message: 'etcdserver: request canceled' },
  DeadlineExceeded: { grpc: GrpcCode.DEADLINE_EXCEEDED, message: 'etcdserver: context deadline exceeded' },
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
