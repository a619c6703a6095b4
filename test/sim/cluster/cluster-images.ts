import { assert, type LogPosition, logPosition, NEW_LOG_SEAL, type Seal, sameSeal } from '@engram/core';
import type { ImagePolicy } from '@engram/member';
import type { Prng, SharedLog, SimProcess } from '@engram/sim';
import {
  type Checkpoint,
  type ImageBase,
  type ImagePart,
  type ImageStatus,
  type Log,
  type LogBatch,
  type SharedImage,
  StorageTrimmedError,
  type Trimmed,
  type Values,
} from '@engram/storage';

/** The requests to shared storage at which a round or a trim can be interrupted. */
export const imageMoments = ['claim', 'write', 'verify', 'publish', 'trim'] as const;
export type ImageMoment = (typeof imageMoments)[number];

/** A member without a message for this time does not delay a trim. */
const SILENT_MS_MAX = 3000;
const BYTES_PER_SECOND = 1e6;

interface PublishedImage {
  readonly round: number;
  readonly from: LogPosition;
  /** A member that needs nothing before it finds all that it lists, in the image or in the log. */
  readonly enough: LogPosition;
  readonly chunks: readonly Uint8Array[];
  readonly pages: readonly (readonly LogPosition[])[];
  readonly records: ReadonlyMap<LogPosition, Uint8Array>;
}

/**
 * The storage that members share beside the log. The log itself stays complete for the judge; members see only the part
 * that trims have left.
 */
export class ClusterImages {
  readonly log: SharedLog;
  image: PublishedImage | undefined;
  claimed = 0;
  trimmed = logPosition(1);
  /** Members for which the newest image has not waited, until their position reaches it. */
  readonly forgotten = new Set<bigint>();
  readonly needs = new Map<bigint, { readonly from: LogPosition; readonly atMs: number }>();
  /** Called when a request of this member arrives, for rounds and trims only. */
  onMoment: ((member: bigint, moment: ImageMoment) => void) | undefined;
  /**
   * What each member was last told about needs: the lowest, and the members that were left out. Its image may be published
   * after one of these has woken and has asked as well.
   */
  readonly #told = new Map<
    bigint,
    { readonly lowest: LogPosition | undefined; readonly silent: ReadonlySet<bigint> }
  >();
  readonly #tell: (text: () => string) => void;

  constructor(log: SharedLog, tell: (text: () => string) => void) {
    this.log = log;
    this.#tell = tell;
  }

  /** The writer has waited for all members but the silent ones: these may list what the image lacks. */
  publish(member: bigint, image: Omit<PublishedImage, 'enough'>, kept: number): void {
    const { lowest, silent } = this.#told.get(member) ?? {};
    const enough = lowest !== undefined && lowest > image.from ? lowest : image.from;
    this.image = { ...image, enough };
    for (const [id, { from }] of this.needs) if (from < enough && silent?.has(id) === true) this.forgotten.add(id);
    this.#tell(
      () =>
        `  m${member} published image ${image.round}: from ${image.from}, ${image.pages.length} pages, ${kept} kept`,
    );
  }

  trimTo(member: bigint, before: LogPosition): void {
    this.trimmed = before;
    this.#tell(() => `  m${member} trimmed the log before ${before}`);
  }

  /** The lowest position that members have asked for lately; undefined if none has. */
  needed(asker: bigint, nowMs: number): LogPosition | undefined {
    let lowest: LogPosition | undefined;
    const silent = new Set<bigint>();
    for (const [id, { from, atMs }] of this.needs) {
      if (nowMs - atMs > SILENT_MS_MAX) silent.add(id);
      else if (lowest === undefined || from < lowest) lowest = from;
    }
    this.#told.set(asker, { lowest, silent });
    return lowest;
  }

  /** A record of the rest of the log, or of the image. */
  record(position: LogPosition): Uint8Array {
    const record = position >= this.trimmed ? this.log.record(position) : this.image?.records.get(position);
    if (record === undefined)
      throw new StorageTrimmedError(`record ${position} is neither in the image nor in the log`);
    return record;
  }

  batches(from: LogPosition): void {
    if (from < this.trimmed) throw new StorageTrimmedError(`the log begins at ${this.trimmed}, and ${from} is read`);
  }
}

/** The image policy of a run: an image whenever the log has grown by `everyBytes` since the last one. */
export const imagePolicyOf = (everyBytes: number, pageBytes: number): ImagePolicy => ({
  everyBytesMin: everyBytes,
  everyBytesMax: 4 * everyBytes,
  bytesPerSecond: BYTES_PER_SECOND,
  pageBytes,
  intervalMs: 300,
});

export interface LifeImagesParts {
  readonly id: bigint;
  readonly images: ClusterImages;
  readonly process: SimProcess;
  readonly random: Prng;
  readonly delayMsMax: number;
}

/** Images and a trimmed log, as a member without local bytes sees them. */
export class LifeImages implements SharedImage {
  readonly #parts: LifeImagesParts;
  #held: Seal = NEW_LOG_SEAL;

  constructor(parts: LifeImagesParts) {
    this.#parts = parts;
    const { images, id, process } = parts;
    // A member that starts needs the whole log until it reports another position.
    images.needs.set(id, { from: logPosition(1), atMs: process.host.scheduler.nowMs });
  }

  log(log: Log): Log {
    const { images } = this.#parts;
    return {
      append: (batch, seal) => log.append(batch, seal),
      seal: async (seal) => {
        const next = await log.seal(seal);
        this.#held = seal;
        return next;
      },
      heldBy: (seal, signal) => log.heldBy(seal, signal),
      async *read(from, signal): AsyncGenerator<LogBatch> {
        images.batches(from);
        for await (const batch of log.read(from, signal)) {
          images.batches(batch.first);
          yield batch;
        }
      },
    };
  }

  /** Values from the log and the image, with the checkpoints and the faults of `values`. */
  values(values: Values): Values {
    const { images } = this.#parts;
    return {
      getMany: async (positions, signal) => {
        await values.getMany([], signal);
        return positions.map((position) => images.record(position));
      },
      peek: (position) => (position >= images.trimmed ? values.peek(position) : undefined),
      drop: (positions, bytes) => values.drop(positions, bytes),
      saveCheckpoint: (from, chunks) => values.saveCheckpoint(from, chunks),
      loadCheckpoint: async () => {
        const own = await values.loadCheckpoint();
        return own !== undefined && own.from >= images.trimmed ? own : checkpointOf(images.image);
      },
      adopt: async (batch) => values.adopt?.(batch),
      size: () => values.size(),
    };
  }

  async status(): Promise<ImageStatus> {
    const { images } = this.#parts;
    return await this.#ask(() => {
      const { image, log, trimmed } = images;
      let [imageBytes, logBytesBehind] = [0, 0];
      for (const { length } of [...(image?.chunks ?? []), ...(image?.records.values() ?? [])]) imageBytes += length;
      for (const { first, records } of log.batches)
        if (first >= (image?.from ?? 1)) for (const { length } of records) logBytesBehind += length;
      return { from: image?.from, imageBytes, logBytesBehind, trimmed };
    });
  }

  async save(
    from: LogPosition,
    parts: (base: ImageBase) => AsyncIterable<ImagePart>,
    signal: AbortSignal,
  ): Promise<'published' | 'deposed'> {
    const { images, id } = this.#parts;
    const claim = await this.#atMoment('claim', () => {
      if (!this.#holds || (images.image !== undefined && images.image.from > from)) return undefined;
      images.claimed += 1;
      return { round: images.claimed, before: images.image };
    });
    if (claim === undefined) return 'deposed';
    const { round, before } = claim;
    const chunks: Uint8Array[] = [];
    const pages: (readonly LogPosition[])[] = [];
    const records = new Map<LogPosition, Uint8Array>();
    let kept = 0;
    for await (const part of parts(baseOf(before))) {
      signal.throwIfAborted();
      await this.#atMoment('write', () => undefined);
      if (part.kind === 'chunk') {
        chunks.push(part.bytes);
        continue;
      }
      if (part.kind === 'kept') kept += 1;
      pages.push(part.positions);
      for (const [at, position] of part.positions.entries()) {
        const record = part.kind === 'kept' ? before?.records.get(position) : part.records[at];
        assert(
          record !== undefined && !records.has(position),
          'an image with a record twice, or of a page that is not there',
        );
        records.set(position, record);
      }
    }
    await this.#atMoment('verify', () => undefined);
    return await this.#atMoment('publish', () => {
      if (!this.#holds || images.claimed !== round) return 'deposed';
      images.publish(id, { round, from, chunks, pages, records }, kept);
      return 'published';
    });
  }

  async trim(): Promise<Trimmed | undefined> {
    const { images, id, process } = this.#parts;
    const seen = await this.#ask(() => ({
      image: images.image,
      needed: images.needed(id, process.host.scheduler.nowMs),
    }));
    if (seen.image === undefined) return undefined;
    const { needed } = seen;
    const before = needed !== undefined && needed < seen.image.from ? needed : seen.image.from;
    return await this.#atMoment('trim', () => {
      if (!this.#holds || before <= images.trimmed) return undefined;
      images.trimTo(id, before);
      return { before, needed };
    });
  }

  async lowestNeed(): Promise<LogPosition | undefined> {
    const { images, id, process } = this.#parts;
    return await this.#ask(() => images.needed(id, process.host.scheduler.nowMs));
  }

  async need(from: LogPosition): Promise<void> {
    const { images, id, process } = this.#parts;
    await this.#ask(() => {
      images.needs.set(id, { from, atMs: process.host.scheduler.nowMs });
      if (from >= (images.image?.enough ?? 0)) images.forgotten.delete(id);
    });
  }

  get #holds(): boolean {
    return sameSeal(this.#parts.images.log.sealed, this.#held);
  }

  #atMoment<Answer>(moment: ImageMoment, effect: () => Answer): Promise<Answer> {
    const { images, id } = this.#parts;
    return this.#ask(() => {
      images.onMoment?.(id, moment);
      return effect();
    });
  }

  /** A request arrives even if the process is paused or dead by then. The answer waits for the process. */
  #ask<Answer>(effect: () => Answer): Promise<Answer> {
    const { process, random, delayMsMax } = this.#parts;
    const wayMs = (): number => random.fraction() * delayMsMax;
    return new Promise((resolve) => {
      process.host.scheduler.after(wayMs(), () => {
        const answer = effect();
        process.after(wayMs(), () => resolve(answer));
      });
    });
  }
}

function baseOf(image: PublishedImage | undefined): ImageBase {
  const page = (first: LogPosition): readonly LogPosition[] | undefined => image?.pages.find(([one]) => one === first);
  return {
    recordsFrom: (first) => page(first)?.length ?? 0,
    has: (positions) => positions[0] !== undefined && page(positions[0])?.join() === positions.join(),
  };
}

function checkpointOf(image: PublishedImage | undefined): Checkpoint | undefined {
  if (image === undefined) return undefined;
  return {
    from: image.from,
    async *chunks(signal) {
      for (const chunk of image.chunks) {
        signal.throwIfAborted();
        yield chunk;
      }
    },
  };
}
