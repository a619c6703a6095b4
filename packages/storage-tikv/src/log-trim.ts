import { type LogPosition, logPosition } from '@engram/core';
import type { Trimmed } from '@engram/storage';
import type { ImageRootStore } from './image-root-store.ts';
import type { BatchPlaceInLog, LogIndex } from './log-index.ts';
import type { LogSource } from './log-source.ts';
import { findTail } from './log-tail.ts';
import type { MemberNeeds } from './member-needs.ts';

export interface LogTrimParts {
  readonly source: LogSource;
  readonly index: LogIndex;
  readonly roots: ImageRootStore;
  readonly needs: MemberNeeds;
}

/**
 * Deletes the segments that lie wholly before the newest image and before what the members need. What stays has a last batch
 * in it, and the seal before its first segment, so the log is read as before.
 *
 * First the root says from where on the log is read; then the range is deleted at once, with all versions. Nobody writes
 * under these keys ever again, so a deletion may come late, or twice. An image only ever moves on, and so do the members:
 * whoever trims by what he has read, deposed or not, deletes nothing that is needed.
 */
export class LogTrim {
  readonly #parts: LogTrimParts;
  /** The segments before it were deleted by this process; 1: what others have left may still be there. */
  #deleted = 1;

  constructor(parts: LogTrimParts) {
    this.#parts = parts;
  }

  /** Undefined: nothing new may be deleted, or this node does not hold the log. */
  async trim(signal: AbortSignal): Promise<Trimmed | undefined> {
    const { roots, needs } = this.#parts;
    const { image, segment } = await roots.read(signal);
    if (image === undefined) return undefined;
    const needed = await needs.lowest(signal);
    const keep = needed !== undefined && needed < image.from ? needed : image.from;
    const first = await this.#firstKept(keep, signal);
    let trimmed: Trimmed | undefined;
    if (first !== undefined && first.segment > segment) {
      const moved = await roots.update((seen) => {
        if (seen.segment >= first.segment) return undefined;
        return { ...seen, trimmed: first.first, segment: first.segment };
      }, signal);
      if (moved !== undefined) trimmed = { before: moved.trimmed, needed };
    }
    await this.#delete(roots.known.segment, signal);
    return trimmed;
  }

  /**
   * Where the segment begins that has the record before `keep`: whoever has the log up to `keep` finds by that record that his
   * copy is of this log.
   */
  async #firstKept(keep: LogPosition, signal: AbortSignal): Promise<BatchPlaceInLog | undefined> {
    if (keep <= 1) return undefined;
    const { source, index } = this.#parts;
    const snapshot = await source.client.snapshot({ signal, timeoutMs: source.timeoutMs });
    const tail = await findTail(source, snapshot, signal);
    const place = await index.locate(snapshot, tail, logPosition(keep - 1), signal);
    return place && (await index.firstFrom(snapshot, place.segment, signal));
  }

  /** All before this segment, but the seal that says whose it is. */
  async #delete(segment: number, signal: AbortSignal): Promise<void> {
    if (segment <= this.#deleted) return;
    const { client, keys, timeoutMs } = this.#parts.source;
    const start = this.#deleted === 1 ? keys.logStart : keys.seal(this.#deleted - 1);
    await client.admin.deleteRange(start, keys.seal(segment - 1), { signal, timeoutMs });
    this.#deleted = segment;
  }
}
