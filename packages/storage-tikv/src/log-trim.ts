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
 * Deletes the segments that lie wholly before the newest image and before what the members need. The rest of the log keeps a
 * last batch, and the seal before its first segment, so that readers need not know of the trim.
 *
 * A trim first changes the begin of the log in the root, and then deletes the range with one call, with all versions. No writer
 * uses these keys again, so a deletion may come late, or twice. Images and the needs of members only move forward. So a node
 * that trims by an older root or older needs, deposed or not, deletes nothing that is needed.
 */
export class LogTrim {
  readonly #parts: LogTrimParts;
  /** This process has deleted the segments before this one. 1: segments that other processes left may still exist. */
  #deleted = 1;

  constructor(parts: LogTrimParts) {
    this.#parts = parts;
  }

  /** Undefined if nothing new may be deleted, or if this node does not hold the log. */
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
   * The begin of the segment with the record before `keep`. A node that has a copy of the log up to `keep` needs that record to
   * check that the copy is of this log.
   */
  async #firstKept(keep: LogPosition, signal: AbortSignal): Promise<BatchPlaceInLog | undefined> {
    if (keep <= 1) return undefined;
    const { source, index } = this.#parts;
    const snapshot = await source.client.snapshot({ signal, timeoutMs: source.timeoutMs });
    const tail = await findTail(source, snapshot, signal);
    const place = await index.locate(snapshot, tail, logPosition(keep - 1), signal);
    return place && (await index.firstFrom(snapshot, place.segment, signal));
  }

  /** Deletes everything before this segment, except the seal that names its owner. */
  async #delete(segment: number, signal: AbortSignal): Promise<void> {
    if (segment <= this.#deleted) return;
    const { client, keys, timeoutMs } = this.#parts.source;
    const start = this.#deleted === 1 ? keys.logStart : keys.seal(this.#deleted - 1);
    await client.admin.deleteRange(start, keys.seal(segment - 1), { signal, timeoutMs });
    this.#deleted = segment;
  }
}
