import { physicalMs, type Timestamp } from './timestamp.ts';

/**
 * Whether an epoch may be born at `birth`: above the birth of the epoch before. Timestamps only rise, so one that is not above
 * comes from a PD that went back, or from another PD than the one that the log was written with. An epoch whose birth is not known
 * forbids nothing.
 */
export const isBornAfter = (birth: Timestamp, before: Timestamp | undefined): boolean =>
  before === undefined || birth > before;

/** For messages: the number, and its time. */
export function timestampText(timestamp: Timestamp): string {
  const date = new Date(physicalMs(timestamp));
  return Number.isNaN(date.getTime()) ? `${timestamp}` : `${timestamp} (${date.toISOString()})`;
}
