/** How long to wait before an append is tried again: the first delay, doubled each time up to the last. */
export interface RetryPolicy {
  readonly firstDelayMs: number;
  readonly delayMaxMs: number;
}

/** The first retry finds out in the usual case: the answer was lost, not the storage. Later ones wait for an election. */
export const defaultRetryPolicy: RetryPolicy = { firstDelayMs: 10, delayMaxMs: 500 };

/** `retries` have been made already. */
export function retryDelayMs({ firstDelayMs, delayMaxMs }: RetryPolicy, retries: number): number {
  return Math.min(delayMaxMs, firstDelayMs * 2 ** retries);
}
