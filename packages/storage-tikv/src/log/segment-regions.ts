import type { Logger } from '@engram/core';
import type { TikvClient } from '@engram/tikv-client';
import type { LogKeys } from '../format/log-keys.ts';

export interface SegmentRegionsOptions {
  readonly client: TikvClient;
  readonly keys: LogKeys;
  readonly logger: Logger;
  readonly closing: AbortSignal;
}

/**
 * A region has so many segments. When the log is trimmed, the region stays, with seals only, until PD merges it, an hour after
 * the split by default. So fewer regions are better, and two segments of 64 MiB are below the size at which TiKV splits a region
 * by itself: 144 MiB, and 384 MiB from version 8.4 on.
 */
const SEGMENTS_OF_REGION = 2;

/**
 * Splits regions where segments begin. A region's segments together are smaller than the size at which TiKV splits it, so a
 * segment's batches and its seal stay in one region. Regions are split ahead of time, in the background. If that fails, the
 * first append that meets two regions ends the segment.
 */
export class SegmentRegions {
  readonly #options: SegmentRegionsOptions;
  #splitting: Promise<void> = Promise.resolve();
  /** The segments that were prepared since the last split. A process does not know of those of others, and begins with a split. */
  #unsplit = SEGMENTS_OF_REGION;

  constructor(options: SegmentRegionsOptions) {
    this.#options = options;
  }

  /** This segment will begin soon, behind one that is half full. Splits a region there if it is time for another one. */
  prepare(segment: number): void {
    this.#unsplit += 1;
    if (this.#unsplit < SEGMENTS_OF_REGION) return;
    this.#unsplit = 0;
    const { client, keys, logger, closing } = this.#options;
    this.#splitting = this.#splitting.then(async () => {
      if (closing.aborted) return;
      try {
        await client.admin.split([keys.segmentStart(segment)], { signal: closing });
      } catch (error) {
        if (!closing.aborted) logger.warn({ err: error, segment }, 'cannot split a region ahead of the log');
      }
    });
  }

  /** Resolves when no split is running. */
  async idle(): Promise<void> {
    await this.#splitting;
  }
}
