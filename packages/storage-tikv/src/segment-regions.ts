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
 * A region begins where a segment does, and a segment is smaller than what TiKV splits a region at: so a segment's batches
 * and its seal stay in one region. Regions are split ahead of time, beside the work; where that fails, the first append
 * that meets two regions ends the segment.
 */
export class SegmentRegions {
  readonly #options: SegmentRegionsOptions;
  #splitting: Promise<void> = Promise.resolve();

  constructor(options: SegmentRegionsOptions) {
    this.#options = options;
  }

  /** Lets a region begin where this segment will. */
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

  /** When nothing is under way. */
  async idle(): Promise<void> {
    await this.#splitting;
  }
}
