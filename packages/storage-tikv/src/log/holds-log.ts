import { type Seal, sameSeal } from '@engram/core';
import { type LogSource, sealOf } from './log-source.ts';

/** The segment that an opened storage appends to, and what its own seals say of it. */
export interface Holder {
  readonly segment: number;
  readonly seal: Seal;
  readonly opener: bigint;
}

/**
 * Whether a segment of this holder is without a seal at some moment after the call. A storage that takes the log over seals
 * the last segment before it appends. So nothing that another storage acknowledged before the call is missing here.
 *
 * Each key is read by itself at the newest timestamp. The leader of its region answers with all that it has applied by then,
 * whatever the commit timestamp, and PD is not asked. A seal of the holder itself ends a segment that was full, and the next
 * segment decides: the holder may have gone on to it since it was asked.
 */
export async function holdsLog(source: LogSource, holder: Holder, signal: AbortSignal): Promise<boolean> {
  const { client, keys, timeoutMs } = source;
  for (let { segment } = holder; ; segment += 1) {
    const value = await client.get(keys.seal(segment), { signal, timeoutMs });
    if (value === undefined) return true;
    const { seal, opener } = sealOf(source, segment, value);
    if (opener !== holder.opener || !sameSeal(seal, holder.seal)) return false;
  }
}
