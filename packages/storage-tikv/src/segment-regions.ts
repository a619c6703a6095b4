import type { Logger } from '@engram/core';
import type { TikvClient } from '@engram/tikv-client';
import type { LogKeys } from './log-keys.ts';

export interface SegmentRegionsOptions {
  readonly client: TikvClient;
  readonly keys: LogKeys;
  readonly logger: Logger;
  readonly closing: AbortSignal;
}

/**
 * Splits regions where segments begin. A segment is smaller than the size at which TiKV splits a region, so a segment's batches
 * and its seal stay in one region. Regions are split ahead of time, in the background. If that fails, the first append that
 * meets two regions ends the segment.
 */
export class SegmentRegions {
  readonly #options: SegmentRegionsOptions;
  #splitting: Promise<void> = Promise.resolve();

  constructor(options: SegmentRegionsOptions) {
    this.#options = options;
  }

  /** Splits a region where this segment will begin. */
  prepare(segment: number): void {
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
