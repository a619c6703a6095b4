/** The delay before an append is tried again: `firstDelayMs`, doubled for each retry up to `delayMaxMs`. */
export interface RetryPolicy {
  readonly firstDelayMs: number;
  readonly delayMaxMs: number;
}

/** Usually only the answer was lost, and the first retry settles the append. Later retries wait for an election. */
export const defaultRetryPolicy: RetryPolicy = { firstDelayMs: 10, delayMaxMs: 500 };

/** The delay before the next retry. `retries`: number of retries made so far. */
export function retryDelayMs({ firstDelayMs, delayMaxMs }: RetryPolicy, retries: number): number {
  return Math.min(delayMaxMs, firstDelayMs * 2 ** retries);
}
