import { physicalMs, type Timestamp } from './timestamp.ts';

/**
 * Where the revisions of a new cluster begin. 'sequence': at 1, like etcd's. 'timestamp': at PD's time, so that clients of an
 * earlier cluster never see revisions go back.
 */
export type RevisionOrigin = 'sequence' | 'timestamp';

export const SEQUENCE_ORIGIN = 1;
/**
 * A revision at an origin in time is in microseconds since 1970. No cluster makes a million revisions a second, so revisions
 * stay below the time, and below 2^53 until the year 2255.
 */
const REVISIONS_PER_MS = 1000;

/** The revision of the empty store of a cluster that is founded at `timestamp`. */
export const revisionAt = (origin: RevisionOrigin, timestamp: Timestamp): number =>
  origin === 'timestamp' ? physicalMs(timestamp) * REVISIONS_PER_MS : SEQUENCE_ORIGIN;
