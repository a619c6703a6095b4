// Timestamps, and their order.
export {
  type Timestamp,
  MAX_TIMESTAMP,
  composeTimestamp,
  physicalMs,
  shiftTimestamp,
  maxTimestamp,
} from './src/timestamp.ts';
// Dealing them: from a server's stream, or from a pool that was fetched ahead.
export { TimestampOracle, type TimestampOracleOptions, TIMESTAMPS_MAX } from './src/timestamp-oracle.ts';
export type { RequestPacing, TimestampAnswer, TimestampCall, TimestampStream } from './src/timestamp-stream.ts';
export { TimestampError, type TimestampErrorCode } from './src/timestamp-error.ts';
export { TimestampPool, type PoolCall, type TimestampPoolOptions, type TimestampRuns } from './src/timestamp-pool.ts';
export { TimestampClock } from './src/timestamp-clock.ts';
// What is decided by them.
export { isBornAfter, timestampText } from './src/epoch-birth.ts';
export { type RevisionOrigin, revisionAt, SEQUENCE_ORIGIN } from './src/revision-origin.ts';
