import type { Clock, Timer } from '@engram/core';
import type { Loop, Task } from '@engram/loop';
import { planCleaning, type Worth } from './cleaning-plan.ts';
import type { Condition } from '../disk/condition.ts';
import { DeadRecords } from '../format/dead-records.ts';
import { fileName, filePath } from '../disk/file-names.ts';
import type { FileSystem, StorageFile } from '../disk/file-system.ts';
import { giveBack } from '../disk/shorten.ts';
import { deadWrite, type Manifest, removalWrites, removedWrite, segmentWrite } from '../manifest/manifest.ts';
import { Segment } from '../segments/segment.ts';
import type { SegmentList } from '../segments/segment-list.ts';
import type { SegmentMaker } from '../segments/segment-maker.ts';
import { SegmentRewriter } from '../segments/segment-rewriter.ts';
import { writeSidecar } from '../segments/sidecar.ts';

/** The pause before the cleaner starts. Drops come in bursts, and records that become garbage soon need not be copied. */
const DELAY_MS = 100;
/** After each portion the cleaner rests this many times as long as the portion took, so that the disk is free for others. */
const REST = 2;
/** The longest rest. */
const REST_MS_MAX = 100;
/** The pause after a failure. */
const AGAIN_MS = 10_000;
/**
 * The segment that is appended to is cleaned too, once it is mostly garbage, and has more of it than this part of a full
 * segment, and than this part of what lives in all segments. The second keeps the number of files low.
 */
const ROLL_SHARE_OF_SEGMENT = 1 / 8;
const ROLL_SHARE_OF_LIVE = 1 / 2;
/** Segments that are removed at a time. Each has an open file until its space is given back. */
const REMOVED_MAX = 16;
const CLEAN: Task = { work: 'background', caller: 'cleaner', stage: 'clean' };

export interface CleanerParts {
  readonly fileSystem: FileSystem;
  readonly condition: Condition;
  readonly manifest: Manifest;
  readonly segments: SegmentList;
  readonly maker: SegmentMaker;
  readonly clock: Clock;
  readonly loop: Loop;
  readonly segmentBytes: number;
  /** Seals the segment that is appended to, so that it can be cleaned. */
  readonly roll: () => Promise<void>;
}

/**
 * Frees the space of dropped records in the background. A segment without live records is removed; neighbours that are
 * mostly garbage are rewritten into one. One write of the manifest changes which files count, so a crash leaves either
 * the old segments or the new one. Files that do not count are removed afterwards, at the latest at the next opening.
 */
export class Cleaner {
  readonly #parts: CleanerParts;
  #timer: Timer | undefined;
  #run: Promise<void> | undefined;
  #notBeforeMs = Number.NEGATIVE_INFINITY;
  #wanted = false;
  #stopped = false;
  #endRest = (): void => {};

  constructor(parts: CleanerParts) {
    this.#parts = parts;
  }

  /** Call it when something was dropped, sealed, or covered by a checkpoint. */
  wake(): void {
    const { clock } = this.#parts;
    this.#wanted = true;
    if (this.#stopped || this.#timer !== undefined || this.#run !== undefined) return;
    const delayMs = Math.max(DELAY_MS, this.#notBeforeMs - clock.nowMs());
    this.#timer = clock.after(delayMs, () => {
      this.#timer = undefined;
      void this.run();
    });
  }

  /** Resolves when nothing is worth cleaning any more, or when cleaning cannot continue now. */
  async run(worth: Worth = 'most'): Promise<void> {
    while (this.#run !== undefined && worth === 'any') await this.#run;
    if (this.#stopped) return;
    this.#run ??= this.#work(worth).finally(() => {
      this.#run = undefined;
      if (this.#wanted) this.wake();
    });
    await this.#run;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    this.#endRest();
    await this.#run;
  }

  async #work(worth: Worth): Promise<void> {
    const { condition, clock } = this.#parts;
    try {
      do {
        this.#wanted = false;
        while (this.#mayGoOn() && (await this.#step(worth)));
      } while (this.#wanted && this.#mayGoOn());
    } catch (error) {
      // The space is not freed for now. Nothing else depends on it.
      this.#notBeforeMs = clock.nowMs() + AGAIN_MS;
      condition.logger.warn({ path: condition.path, err: error }, 'cannot free the space of dropped records yet');
    }
  }

  #mayGoOn(): boolean {
    const { condition } = this.#parts;
    return !this.#stopped && !condition.failed && !condition.lifetime.ended;
  }

  /** Returns false if there was nothing to do. */
  async #step(worth: Worth): Promise<boolean> {
    const { segments, segmentBytes } = this.#parts;
    // Only records before the newest checkpoint are ever dropped, so a replay finds all that it needs in any segment.
    const isCleanable = (segment: Segment): boolean => segment.sealed && !segment.damaged;
    const all = segments.all;
    const empty = all.filter((segment) => segment.sealed && segment.liveBytes === 0);
    if (empty.length > 0) {
      await this.#remove(empty);
      return true;
    }
    const plan = planCleaning(
      all.map((segment) => ({
        cleanable: isCleanable(segment),
        first: segment.table.first,
        next: segment.table.next,
        bytes: segment.bytes,
        liveRecords: segment.table.count - segment.dead.count,
        liveBytes: segment.liveBytes,
        deadBytes: segment.dead.bytes,
      })),
      segmentBytes,
      worth,
    );
    if (plan !== undefined) {
      await this.#rewrite(all.slice(plan.from, plan.to));
      return true;
    }
    return await this.#rollLast(all);
  }

  /** Without this, a store that is small beside a segment would keep all that was dropped until the segment is full. */
  async #rollLast(all: readonly Segment[]): Promise<boolean> {
    const { segmentBytes, roll } = this.#parts;
    const last = all.at(-1);
    if (last === undefined || last.sealed || last.dead.bytes <= last.liveBytes) return false;
    const liveBytes = all.reduce((sum, segment) => sum + segment.liveBytes, 0);
    if (last.dead.bytes < Math.max(segmentBytes * ROLL_SHARE_OF_SEGMENT, liveBytes * ROLL_SHARE_OF_LIVE)) return false;
    await roll();
    return last.sealed;
  }

  async #remove(empty: readonly Segment[]): Promise<void> {
    const { manifest, segments } = this.#parts;
    await manifest.change(
      () => empty.flatMap(({ id }) => removalWrites(id)),
      () => {
        for (const segment of empty) segments.replace([segment], undefined);
      },
    );
    await this.#removeFiles(empty);
  }

  async #rewrite(old: readonly Segment[]): Promise<void> {
    const { fileSystem, condition, maker } = this.#parts;
    const id = maker.takeId();
    const temporary = filePath(condition.path, 'tmp', id);
    const file = await fileSystem.open(temporary, 'create');
    let adopted = false;
    try {
      const rewriter = new SegmentRewriter(file, id, maker.newSalt(), maker.marked);
      if ((await this.#copy(old, rewriter)) && rewriter.table.count > 0) {
        await this.#adopt(old, rewriter, file);
        adopted = true;
      }
    } finally {
      if (!adopted) {
        await file.close();
        await fileSystem.remove(temporary);
      }
    }
    if (adopted) await this.#removeFiles(old);
  }

  /** Returns false if the cleaner was stopped or a record is damaged. */
  async #copy(old: readonly Segment[], rewriter: SegmentRewriter): Promise<boolean> {
    const { condition, clock, loop } = this.#parts;
    for (const segment of old) {
      rewriter.begin(segment);
      for (;;) {
        const startMs = clock.nowMs();
        const outcome = await loop.run(CLEAN, rewriter.copyPortion(loop));
        if (outcome.kind === 'done') break;
        if (outcome.kind === 'damaged') {
          segment.damaged = true;
          const { position, cause } = outcome;
          const fields = { path: condition.path, file: fileName('seg', segment.id), position };
          const why = cause === undefined ? {} : { err: cause };
          condition.logger.error({ ...fields, ...why }, 'a record is damaged: its segment is not cleaned');
          return false;
        }
        // A rest that begins after `stop` would be ended by nobody, and its timer keeps no process alive.
        if (!this.#mayGoOn()) return false;
        await this.#rest(Math.min(REST_MS_MAX, REST * (clock.nowMs() - startMs)));
        if (!this.#mayGoOn()) return false;
      }
    }
    await rewriter.finish();
    return true;
  }

  async #adopt(old: readonly Segment[], rewriter: SegmentRewriter, file: StorageFile): Promise<void> {
    const { fileSystem, condition, manifest, segments } = this.#parts;
    const { header, table, chain } = rewriter;
    try {
      await writeSidecar(fileSystem, condition.path, header, table, chain);
      await fileSystem.rename(filePath(condition.path, 'tmp', header.id), filePath(condition.path, 'seg', header.id));
      await fileSystem.syncDirectory(condition.path);
    } catch (error) {
      // The manifest does not know them. The next try has an id of its own, so they would gather until the next opening.
      for (const kind of ['seg', 'idx'] as const)
        await fileSystem.remove(filePath(condition.path, kind, header.id)).catch(() => {});
      throw error;
    }
    const dead = new DeadRecords();
    const sealed = { first: table.first, next: table.next, records: table.count, bytes: table.end };
    await manifest.change(
      () => {
        addDrops(dead, rewriter);
        dead.changed = false;
        return [
          segmentWrite({ id: header.id, kind: 'cleaned', sealed }),
          ...(dead.count > 0 ? [deadWrite(header.id, dead)] : []),
          ...old.flatMap(({ id }) => removalWrites(id)),
        ];
      },
      () => {
        // Includes the records that were dropped while the manifest was written.
        addDrops(dead, rewriter);
        segments.replace(old, new Segment({ header, table, file, sealed: true, chain, dead }));
      },
    );
    const [before, after] = [old.reduce((sum, { bytes }) => sum + bytes, 0), table.end];
    condition.logger.debug({ segments: old.length, before, after }, 'rewrote segments that were mostly garbage');
  }

  async #removeFiles(old: readonly Segment[]): Promise<void> {
    for (let at = 0; at < old.length; at += REMOVED_MAX) await this.#removeSome(old.slice(at, at + REMOVED_MAX));
  }

  async #removeSome(old: readonly Segment[]): Promise<void> {
    const { fileSystem, condition, manifest } = this.#parts;
    const removed: StorageFile[] = [];
    try {
      for (const segment of old) {
        const path = filePath(condition.path, 'seg', segment.id);
        // One that is still read gives its space back when the last reader closes it, all at once.
        const file = segment.pinned ? undefined : await fileSystem.open(path, 'update').catch(() => undefined);
        if (file !== undefined) removed.push(file);
        await fileSystem.remove(path);
        await fileSystem.remove(filePath(condition.path, 'idx', segment.id));
      }
      await fileSystem.syncDirectory(condition.path);
      await manifest.change(() => old.map(({ id }) => removedWrite(id)));
    } finally {
      for (const file of removed) await giveBack(file, () => this.#mayGoOn());
    }
  }

  #rest(restMs: number): Promise<void> {
    const { clock } = this.#parts;
    return new Promise((resolve) => {
      const timer = clock.after(restMs, resolve);
      this.#endRest = () => {
        timer.cancel();
        resolve();
      };
    });
  }
}

/** Marks the records that were dropped from the old segments as dropped in the new one. */
function addDrops(dead: DeadRecords, { table, copied }: SegmentRewriter): void {
  let at = 0;
  for (const { segment, indexes } of copied) {
    for (const index of indexes) {
      if (segment.dead.has(index)) dead.add(at, table.endAt(at) - table.offsetAt(at), table.count);
      at += 1;
    }
  }
}
