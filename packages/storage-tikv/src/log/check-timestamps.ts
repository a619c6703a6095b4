import { isBornAfter, type Timestamp } from '@engram/tso';
import { type LogSource, sealOf } from './log-source.ts';
import { type LogView, lookAtTail } from './log-tail.ts';
import type { EpochBirth } from '../format/seal-record.ts';
import { checkEnd, hiddenFrom } from './hidden-from.ts';
import { timestampRefusal } from './timestamp-refusal.ts';

// A takeover reads the log at a timestamp of PD. That shows everything only while PD's timestamps rise. If PD went back, or is another
// one, a snapshot hides what was written since: the newest seals, or the last batches before them. Reads at the newest version hide
// nothing, whatever PD allocates. So a takeover compares the two where the snapshot says that the log ends.

/** Each other round, another storage has taken the log over meanwhile. */
const START_ROUNDS_MAX = 5;

/**
 * Before the seal: the timestamp of the look, which becomes the birth of the new epoch, must lie above the birth of the epoch that
 * holds the log, and show its seal and its batches. False if another storage has sealed since the look: look again. Throws
 * StorageTimestampError.
 */
export async function checkBirth(
  source: LogSource,
  { snapshot, tail }: LogView,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  refuseUnlessAbove(source, snapshot.timestamp, tail.owner);
  const key = source.keys.seal(tail.segment);
  const end = checkEnd(source, tail.segment, tail, tail.owner, timeoutMs, signal);
  end.catch(() => {}); // a hidden seal tells more
  const value = await source.client.get(key, { signal, timeoutMs });
  if (value === undefined) {
    await end;
    return true;
  }
  const owner = sealOf(source, tail.segment, value);
  const hidden = await hiddenFrom(source.client, key, { signal, timeoutMs });
  if (hidden === undefined) return false;
  refuseUnlessAbove(source, hidden, owner);
  throw timestampRefusal(source.name, hidden, owner, `does not show the seal of segment ${tail.segment}`);
}

/**
 * At a start: timestamps show the end of the log and the newest image. Where they do not, a start would take what it does not see for
 * damage, or its own copy for one of another log. Later timestamps of the same client rise, so it need not look again. Throws
 * StorageTimestampError.
 */
export async function checkStart(source: LogSource, signal: AbortSignal): Promise<void> {
  const { client, keys, timeoutMs } = source;
  for (let round = 0; round < START_ROUNDS_MAX; round += 1) {
    const view = await lookAtTail(source, signal);
    const hidden = await hiddenFrom(client, keys.image, { signal, timeoutMs });
    if (hidden !== undefined)
      throw timestampRefusal(source.name, hidden, view.tail.owner, 'does not show the newest image');
    if (await checkBirth(source, view, timeoutMs, signal)) return;
  }
}

function refuseUnlessAbove(source: LogSource, timestamp: Timestamp, owner: EpochBirth): void {
  if (!isBornAfter(timestamp, owner.birth)) throw timestampRefusal(source.name, timestamp, owner, 'is not above it');
}
