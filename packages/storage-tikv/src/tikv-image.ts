import { assert, type Clock, type Logger, type LogPosition } from '@engram/core';
import type { ImagePart, ImageStatus, Lifetime, LocalShare, SharedImage, Trimmed } from '@engram/storage';
import { imageBytes, type ImageRoot } from './image-root.ts';
import type { ImageRootStore, RootHolder } from './image-root-store.ts';
import { ImageWriter } from './image-writer.ts';
import type { LogSource } from './log-source.ts';
import type { LogTrim } from './log-trim.ts';
import type { MemberNeeds } from './member-needs.ts';
import type { NodeBytes } from './node-bytes.ts';
import type { SafePointKeeper } from './safe-point-keeper.ts';
import { signalOf, translate } from './tikv-errors.ts';

export interface TikvImageParts {
  readonly source: LogSource;
  readonly roots: ImageRootStore;
  readonly trim: LogTrim;
  readonly needs: MemberNeeds;
  readonly safePoint: SafePointKeeper;
  readonly bytes: NodeBytes;
  /** Of this node; undefined: it does not hold the log. */
  readonly holder: () => RootHolder | undefined;
  readonly partBytesMax: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly lifetime: Lifetime;
  readonly closing: AbortSignal;
}

/** Images in TiKV, in rounds. */
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

  save(from: LogPosition, parts: AsyncIterable<ImagePart>, signal: AbortSignal): Promise<'published' | 'deposed'> {
    return this.#run(signal, async (either) => {
      assert(!this.#saving, 'two images at a time');
      assert(from <= this.#parts.bytes.newest.next, 'an image of what the log has not reached');
      this.#saving = true;
      try {
        return await this.#save(from, parts, either);
      } finally {
        this.#saving = false;
      }
    });
  }

  async #save(
    from: LogPosition,
    parts: AsyncIterable<ImagePart>,
    signal: AbortSignal,
  ): Promise<'published' | 'deposed'> {
    const { source, roots, bytes, partBytesMax, clock, logger } = this.#parts;
    const { logBytes } = bytes.newest;
    const claimed = await this.#claim(from, signal);
    if (claimed?.claim === undefined) return 'deposed';
    const writer = new ImageWriter({ source, roots, clock, logger, partBytesMax }, claimed.claim, signal);
    // The image of the claim's own moment: of those before this round only this one may still be the published one.
    await writer.collect(claimed.image);
    await writer.write(parts);
    await writer.verify();
    return (await writer.publish(from, logBytes)) === undefined ? 'deposed' : 'published';
  }

  /** From here on no earlier round is published. Undefined: another holds the log, or has an image that is newer. */
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
    // Whoever says this has read its state: what is left to fetch no longer delays it.
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
