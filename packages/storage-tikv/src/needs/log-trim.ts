import { type LogPosition, logPosition } from '@engram/core';
import type { Trimmed } from '@engram/storage';
import type { ImageRoot } from '../format/image-root.ts';
import type { ImageRootStore } from '../image/image-root-store.ts';
import type { BatchPlaceInLog, BatchLocator } from '../log/batch-locator.ts';
import type { LogSource } from '../log/log-source.ts';
import { lookAtTail } from '../log/log-tail.ts';
import type { MemberNeeds } from './member-needs.ts';

export interface LogTrimParts {
  readonly source: LogSource;
  readonly index: BatchLocator;
  readonly roots: ImageRootStore;
  readonly needs: MemberNeeds;
}

/**
 * Deletes the batches of the segments that lie wholly before the newest image and before what the members need. The rest of
 * the log keeps a last batch, so that its end is found without the root.
 *
 * **Seals are never deleted.** A writer that was deposed while it was stopped may append, end its segment or seal after any
 * time, and TiKV refuses it only because the seal of that segment exists (decision 14). So no batch comes into a segment whose
 * batches were deleted, and no seal.
 *
 * A trim first changes the begin of the log in the root, and then deletes the batches segment by segment, with all versions. No
 * segment is written to once the next one has batches, so a deletion may come late, or twice. Images and the needs of members
 * only move forward. So a node that trims by an older root or older needs, deposed or not, deletes nothing that is needed.
 */
export class LogTrim {
  readonly #parts: LogTrimParts;
  /** This process has deleted the batches of the segments before this one. */
  #deleted = 1;

  constructor(parts: LogTrimParts) {
    this.#parts = parts;
  }

  /** Undefined if nothing new may be deleted, or if this node does not hold the log. */
  async trim(signal: AbortSignal): Promise<Trimmed | undefined> {
    const { roots, needs } = this.#parts;
    const { image, segment } = await roots.read(signal);
    if (image === undefined) return undefined;
    const needed = await needs.lowest(image.from, signal);
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
    await this.#delete(roots.known, signal);
    return trimmed;
  }

  /**
   * The begin of the segment with the record before `keep`. A node that has a copy of the log up to `keep` needs that record to
   * check that the copy is of this log.
   */
  async #firstKept(keep: LogPosition, signal: AbortSignal): Promise<BatchPlaceInLog | undefined> {
    if (keep <= 1) return undefined;
    const { source, index } = this.#parts;
    const { snapshot, tail } = await lookAtTail(source, signal);
    const place = await index.locate(snapshot, tail, logPosition(keep - 1), signal);
    return place && (await index.firstFrom(snapshot, place.segment, signal));
  }

  /** Deletes the batches before the begin of the log, and notes it in the root. */
  async #delete({ segment: end, deleted }: ImageRoot, signal: AbortSignal): Promise<void> {
    const { source, roots } = this.#parts;
    const { client, keys, timeoutMs } = source;
    this.#deleted = Math.max(this.#deleted, deleted);
    for (let segment = this.#deleted; segment < end; segment += 1) {
      await client.admin.deleteRange(keys.segmentStart(segment), keys.seal(segment), { signal, timeoutMs });
      this.#deleted = segment + 1;
    }
    if (deleted < end)
      await roots.update((seen) => (seen.deleted < end ? { ...seen, deleted: end } : undefined), signal);
  }
}
