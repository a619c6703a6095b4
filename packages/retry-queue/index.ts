// Settles appends of which it is not known whether their batches are in the log.
export { RetryQueue, type RetryQueueOptions, type SettledOutcome } from './src/retry-queue.ts';
export type { RetryPolicy } from './src/retry-policy.ts';
export type { Unsettled } from './src/unsettled.ts';
