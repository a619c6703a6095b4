import type { CallOptions, TikvClient } from '@engram/tikv-client';
import type { Timestamp } from '@engram/tso';
import type { LogSource } from './log-source.ts';
import type { EpochBirth, LogMark } from '../format/seal-record.ts';
import { timestampRefusal } from './timestamp-refusal.ts';

/**
 * No batch of the segment lies hidden behind the end that a snapshot shows. Batches follow each other without a gap, so the first
 * hidden one would be there. Before the seal a batch may be there that came after the look, and later timestamps show it; after the
 * seal none comes any more. `owner` is the one that the refusal names. Throws StorageTimestampError.
 */
export async function checkEnd(
  source: LogSource,
  segment: number,
  { next }: Pick<LogMark, 'next'>,
  owner: EpochBirth,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<void> {
  const key = source.keys.slot(segment, next, 0);
  // A batch that its writer did not finish is there as well, and is not hidden.
  const hidden = await hiddenFrom(source.client, key, { signal, timeoutMs });
  if (hidden !== undefined) throw timestampRefusal(source.name, hidden, owner, `does not show the batch at ${next}`);
}

/**
 * A new timestamp that does not show the newest value of a key. Undefined if it shows it, or if nothing is there, or if the value has
 * changed meanwhile.
 */
export async function hiddenFrom(
  client: TikvClient,
  key: Uint8Array,
  call: CallOptions,
): Promise<Timestamp | undefined> {
  const newest = await client.get(key, call);
  if (newest === undefined) return undefined;
  const snapshot = await client.snapshot(call);
  if (isSame(await snapshot.get(key, call), newest)) return undefined;
  return isSame(await client.get(key, call), newest) ? snapshot.timestamp : undefined;
}

const isSame = (found: Uint8Array | undefined, bytes: Uint8Array): boolean =>
  found !== undefined && Buffer.compare(found, bytes) === 0;
