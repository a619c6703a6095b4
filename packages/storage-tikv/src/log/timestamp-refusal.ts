import { StorageTimestampError } from '@engram/storage';
import { type Timestamp, timestampText } from '@engram/tso';
import type { EpochBirth } from '../format/seal-record.ts';

/** `log`: its name. `timestamp`: what PD allocates. `why` says what is wrong with it. */
export function timestampRefusal(
  log: string,
  timestamp: Timestamp,
  { seal, birth }: EpochBirth,
  why: string,
): StorageTimestampError {
  const born = birth === undefined ? 'at an unknown time' : `at ${timestampText(birth)}`;
  return new StorageTimestampError(
    `PD went back, or is not the PD of ${log}: epoch ${seal.epoch} was born ${born}, and ${timestampText(timestamp)} ${why}`,
    { timestamp, birth },
  );
}
