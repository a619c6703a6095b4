/** One kind of waiting. `equal` jitter takes half of the value and adds a random part of the other half. */
export interface BackoffKind {
  readonly baseMs: number;
  readonly capMs: number;
  readonly jitter: 'none' | 'equal';
  /** Whether its sleeps count against the budget of the operation. */
  readonly counted: boolean;
}

const kind = (baseMs: number, capMs: number, jitter: 'none' | 'equal', counted = true): BackoffKind => ({
  baseMs,
  capMs,
  jitter,
  counted,
});

/** The values of client-go (config/retry), except serverBusy, which client-go starts at two seconds. */
export const backoffKinds = {
  tikvRPC: kind(100, 2000, 'equal'),
  pdRPC: kind(500, 3000, 'equal'),
  pdMembers: kind(20, 100, 'none'),
  txnLock: kind(100, 3000, 'equal'),
  txnLockFast: kind(10, 3000, 'equal'),
  txnNotFound: kind(2, 500, 'none'),
  regionMiss: kind(2, 500, 'none'),
  regionScheduling: kind(2, 500, 'none'),
  staleCommand: kind(2, 1000, 'none'),
  regionNotInitialized: kind(2, 1000, 'none'),
  maxTsNotSynced: kind(2, 500, 'none'),
  serverBusy: kind(50, 2000, 'equal', false),
  diskFull: kind(500, 5000, 'none'),
  regionRecovery: kind(100, 10_000, 'equal'),
  isWitness: kind(1000, 10_000, 'equal'),
} as const satisfies Record<string, BackoffKind>;

export type BackoffName = keyof typeof backoffKinds;
