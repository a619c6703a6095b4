import { assert, type Logger, type LogPosition } from '@engram/core';
import type { Loop, Task } from '@engram/loop';
import {
  type ImageBase,
  type ImagePart,
  type ImageStatus,
  type Lifetime,
  type LocalShare,
  type LogHolder,
  type SharedImage,
  StorageCorruptError,
  type Trimmed,
} from '@engram/storage';
import { type PageEntry, PublishedPages } from './image/image-directory.ts';
import { collectImageGarbage } from './image/image-garbage.ts';
import { PieceMissing, TikvPieces } from './image/image-pieces.ts';
import { type Image, imageBytes, type ImageRoot } from './format/image-root.ts';
import type { ImageRootStore, RootHolder } from './image/image-root-store.ts';
import { ImageWriter } from './image/image-writer.ts';
import type { LogSource } from './log/log-source.ts';
import type { LogTrim } from './needs/log-trim.ts';
import type { MemberNeeds } from './needs/member-needs.ts';
import type { NodeBytes } from './copy/node-bytes.ts';
import type { SafePointKeeper } from './needs/safe-point-keeper.ts';
import { signalOf, translate } from './tikv-errors.ts';

const PAGES: Task = { work: 'background', caller: 'images', stage: 'pages' };

export interface TikvImageParts {
  readonly source: LogSource;
  readonly roots: ImageRootStore;
  readonly trim: LogTrim;
  readonly needs: MemberNeeds;
  readonly safePoint: SafePointKeeper;
  readonly bytes: NodeBytes;
  /** Returns the holder that this node is; undefined if it does not hold the log. */
  readonly holder: () => RootHolder | undefined;
  readonly partBytesMax: number;
  readonly loop: Loop;
  readonly logger: Logger;
  readonly lifetime: Lifetime;
  readonly closing: AbortSignal;
}

/** Images in TiKV. Each image is written in a round of its own. */
export class TikvImage implements SharedImage {
  readonly #parts: TikvImageParts;
  #saving = false;

  constructor(parts: TikvImageParts) {
    this.#parts = parts;
  }

  status(signal: AbortSignal): Promise<ImageStatus> {
    return this.#run(signal, async (either) => {
      const { roots, bytes } = this.#parts;
      const { image, trimmed } = await roots.read(either);
      const { logBytes } = bytes.newest;
      return {
        from: image?.from,
        imageBytes: image === undefined ? 0 : imageBytes(image),
        logBytesBehind: Math.max(0, logBytes - (image?.logBytes ?? 0)),
        trimmed,
      };
    });
  }

  save(
    from: LogPosition,
    parts: (base: ImageBase) => AsyncIterable<ImagePart>,
    signal: AbortSignal,
    pace: (bytes: number) => Promise<void> = () => this.#parts.loop.pause(PAGES),
  ): Promise<'published' | 'deposed'> {
    return this.#run(signal, async (either) => {
      assert(!this.#saving, 'two images at a time');
      assert(from <= this.#parts.bytes.newest.next, 'an image of what the log has not reached');
      this.#saving = true;
      try {
        return await this.#save(from, parts, pace, either);
      } finally {
        this.#saving = false;
      }
    });
  }

  async #save(
    from: LogPosition,
    parts: (base: ImageBase) => AsyncIterable<ImagePart>,
    pace: (bytes: number) => Promise<void>,
    signal: AbortSignal,
  ): Promise<'published' | 'deposed'> {
    const { source, roots, bytes, partBytesMax, loop, logger } = this.#parts;
    const { logBytes } = bytes.newest;
    const claimed = await this.#claim(from, signal);
    if (claimed?.claim === undefined) return 'deposed';
    // The image that was published at the claim: no image of another earlier round can be published any more.
    const base = new PublishedPages(await this.#collect(claimed.claim.round, claimed.image, signal));
    const options = { source, roots, loop, logger, partBytesMax, base, pace };
    const writer = new ImageWriter(options, claimed.claim, signal);
    await writer.write(parts(base));
    try {
      await writer.verify();
    } catch (error) {
      // A later round deletes the pieces of this one.
      if (error instanceof StorageCorruptError && (await roots.read(signal)).claim?.round !== claimed.claim.round) {
        return 'deposed';
      }
      throw error;
    }
    return (await writer.publish(from, logBytes)) === undefined ? 'deposed' : 'published';
  }

  /**
   * Returns the existing pages of the published image. If its directory is damaged, no page is kept, and nothing is deleted:
   * the next image is written from what this node has.
   */
  async #collect(round: number, published: Image | undefined, signal: AbortSignal): Promise<readonly PageEntry[]> {
    const { source, loop, logger } = this.#parts;
    let pages: readonly PageEntry[] | undefined;
    try {
      pages = published && (await new TikvPieces(source, published).directory(signal));
    } catch (error) {
      if (!(error instanceof StorageCorruptError) && !(error instanceof PieceMissing)) throw error;
      logger.error({ err: error }, 'the directory of the image is damaged: all pages are written again');
      return [];
    }
    const there = await collectImageGarbage({ source, loop, round, published, pages }, signal);
    const missing = (pages?.length ?? 0) - there.length;
    if (missing > 0) logger.error({ round, missing }, 'pages of the image are missing: they are written again');
    return there;
  }

  /** From here on no earlier round is published. Undefined if another node holds the log, or the published image is newer. */
  async #claim(from: LogPosition, signal: AbortSignal): Promise<ImageRoot | undefined> {
    const { roots, holder } = this.#parts;
    return await roots.update((root) => {
      const held = holder();
      if (held === undefined) return undefined;
      if (root.claim !== undefined && root.claim.epoch > held.seal.epoch) return undefined;
      if (root.image !== undefined && root.image.from > from) return undefined;
      const round = Math.max(root.claim?.round ?? 0, root.image?.round ?? 0) + 1;
      return { ...root, claim: { round, epoch: held.seal.epoch, opener: held.opener } };
    }, signal);
  }

  lowestNeed(wanted: LogPosition, signal: AbortSignal): Promise<LogPosition | undefined> {
    return this.#run(signal, (either) => this.#parts.needs.lowest(wanted, either));
  }

  get holders(): readonly LogHolder[] {
    return this.#parts.needs.holders;
  }

  trim(signal: AbortSignal): Promise<Trimmed | undefined> {
    return this.#run(signal, (either) => this.#parts.trim.trim(either));
  }

  collectGarbage(signal: AbortSignal): Promise<void> {
    return this.#run(signal, (either) => this.#parts.safePoint.keep(either));
  }

  get local(): LocalShare | undefined {
    return this.#parts.bytes.local;
  }

  need(from: LogPosition, signal: AbortSignal): Promise<void> {
    // A node that reports its need has read its state, so the fetch no longer delays it.
    void this.#parts.bytes.fetchImage();
    return this.#run(signal, (either) => this.#parts.needs.say(from, either));
  }

  #run<Result>(signal: AbortSignal, work: (either: AbortSignal) => Promise<Result>): Promise<Result> {
    const { lifetime, closing, source } = this.#parts;
    return lifetime.run(async () => {
      signal.throwIfAborted();
      const ends = { signal, closing };
      try {
        return await work(signalOf(ends));
      } catch (error) {
        throw translate(error, source.name, ends);
      }
    });
  }
}
