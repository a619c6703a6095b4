/** The log behind the newest checkpoint: what a start reads again. */
export interface LogBehind {
  readonly bytes: number;
  readonly records: number;
}

/** Of the log, for each version in the index, between two checkpoints; or so many records, where they are smaller. */
const LOG_BYTES_PER_VERSION = 160;
const LOG_RECORDS_PER_VERSION = 1 / 4;

/**
 * Whether a checkpoint of `versions` versions pays: it must not cost more than the log that it shortens, of which there
 * are at least `everyBytes`. Writing down a version takes 0.4 us, a put of 512 bytes 10 us; reading a record again at a
 * start takes 2 us, however small it is, so bytes alone are no measure: while small records only add keys, the log never
 * has 160 bytes for each.
 */
export function checkpointPays(behind: LogBehind, versions: number, everyBytes: number): boolean {
  if (behind.bytes < everyBytes) return false;
  return behind.bytes >= versions * LOG_BYTES_PER_VERSION || behind.records >= versions * LOG_RECORDS_PER_VERSION;
}
