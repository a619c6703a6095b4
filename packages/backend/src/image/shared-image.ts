import { CheckpointWriter } from '@engram/coder';
import { type Clock, EMPTY_BYTES, type LogPosition, type VersionMeta } from '@engram/core';
import type { VersionSlot } from '@engram/index';
import type { Loop, Task, Turn } from '@engram/loop';
import type { Pin, Pins } from '@engram/scanner';
import type { ImageBase, ImagePart, Values } from '@engram/storage';
import { checkpointHeader } from '../checkpoint/checkpoint-header.ts';
import { visitKept } from './kept-versions.ts';
import { type Cut, PageCutter } from './page-cutter.ts';
import type { ReplicatedState } from '../apply/replicated-state.ts';
import { versionMeta } from './version-meta.ts';

const SHARE: Task = { work: 'background', caller: 'images', stage: 'share' };
/** The most keys whose versions are pinned at a time, until their records are read. Fewer if they have more than READ_BYTES. */
const PINNED_KEYS = 1000;
/** Bytes of records that are read in one call, because each read waits for its turn on a busy event loop. */
const READ_BYTES = 512 << 10;
/** Bytes that a version takes in a page beside its KeyValue. */
const RECORD_OVERHEAD_BYTES = 16;

export interface SharedImageParts {
  readonly state: ReplicatedState;
  readonly pins: Pins;
  readonly values: Values;
  readonly clock: Clock;
  readonly loop: Loop;
  /** Every record before this position has taken effect. */
  readonly applied: LogPosition;
}

export interface SharedImageOptions {
  /** A page ends when it has at least so many bytes. A single record may be larger. */
  readonly pageBytes: number;
  /** Resolves when `bytes` more bytes may be read and written. */
  readonly pace: (bytes: number) => Promise<void>;
  readonly signal: AbortSignal;
}

/** An image as `SharedImage.save` takes it. */
export interface PartsFrom {
  readonly from: LogPosition;
  readonly parts: (base: ImageBase) => AsyncIterable<ImagePart>;
}

/**
 * An image of the state as a checkpoint has it, with the records of its versions, taken while writes go on. Leases,
 * alarms and marks are those of one log position. The keys are walked while others write. So the image also has some versions
 * of existing keys that take effect meanwhile, and lacks versions that are compacted meanwhile. The replay from that
 * position repeats both. The image has every version that a compaction at the state's compact revision keeps, and
 * none that has not taken effect. So a node that starts from it serves the same history. Pages of the base that have
 * exactly the versions of their place are kept, and their records are not read.
 */
export function sharedImage(parts: SharedImageParts, options: SharedImageOptions): PartsFrom {
  const { state, clock, loop, applied } = parts;
  // Begun here: it is that of this moment.
  const header = loop.run(SHARE, checkpointHeader(state, applied, clock.nowMs(), loop));
  return { from: applied, parts: (base) => partsOf(header, base, parts, options) };
}

async function* partsOf(
  header: Uint8Array | Promise<Uint8Array>,
  base: ImageBase,
  { state, pins, values, loop, applied }: SharedImageParts,
  { pageBytes, pace, signal }: SharedImageOptions,
): AsyncGenerator<ImagePart> {
  yield { kind: 'chunk', bytes: await header };
  const { index } = state;
  const writer = new CheckpointWriter();
  const pages = new PageCutter(base, pageBytes);
  using pinned = new PinnedSlices();
  for (let next: Uint8Array | undefined = EMPTY_BYTES; next !== undefined; ) {
    const chunks: Uint8Array[] = [];
    // Held until the records are read: otherwise a compaction would let storage drop them.
    const pin = pins.hold(state.compactRevision);
    let pinnedBytes = 0;
    const turn: Turn = { shouldYield: (steps) => loop.shouldYield(steps) || pinnedBytes >= READ_BYTES };
    const visit = (key: Uint8Array, head: VersionSlot): number => {
      const versions: VersionMeta[] = [];
      const seen = visitKept(index, head, state.compactRevision, state.revision, (slot: VersionSlot) => {
        versions.push(versionMeta(index, slot));
      });
      versions.reverse();
      const [oldest] = versions;
      // Skips a key that was created since the image began. The replay brings all of it, and a walk that included new
      // keys might never end.
      if (oldest === undefined || (oldest.version === 1 && oldest.position >= applied)) return seen;
      for (const { position, bytes } of versions) pages.add(position, bytes + RECORD_OVERHEAD_BYTES);
      for (const { bytes } of versions) pinnedBytes += bytes;
      const chunk = writer.add(key, versions);
      if (chunk !== undefined) chunks.push(chunk);
      return seen;
    };
    const begin: Uint8Array = next;
    next = loop.slice(() => index.walk(begin, PINNED_KEYS, visit, turn));
    pinned.add(pin, pages.added);
    for (const bytes of chunks) yield { kind: 'chunk', bytes };
    for (const group of groupsOf(pages.cut(next === undefined))) yield* partsOfPages(group, values, pace, signal);
    pinned.release(pages.given);
    await loop.pause(SHARE, signal);
  }
  const last = writer.finish();
  if (last !== undefined) yield { kind: 'chunk', bytes: last };
}

/** Groups neighbouring pages, so that one read has about READ_BYTES. */
function* groupsOf(cuts: Iterable<Cut>): Generator<readonly Cut[]> {
  let group: Cut[] = [];
  let bytes = 0;
  for (const cut of cuts) {
    group.push(cut);
    if (!cut.kept) bytes += cut.bytes;
    if (bytes < READ_BYTES) continue;
    yield group;
    group = [];
    bytes = 0;
  }
  if (group.length > 0) yield group;
}

async function* partsOfPages(
  group: readonly Cut[],
  values: Values,
  pace: SharedImageOptions['pace'],
  signal: AbortSignal,
): AsyncGenerator<ImagePart> {
  const written = group.filter(({ kept }) => !kept);
  let records: readonly Uint8Array[] = [];
  if (written.length > 0) {
    await pace(written.reduce((sum, { bytes }) => sum + bytes, 0));
    records = await values.getMany(
      written.flatMap(({ positions }) => positions),
      signal,
    );
  }
  let at = 0;
  for (const { kept, positions } of group) {
    if (kept) {
      yield { kind: 'kept', positions };
      continue;
    }
    yield { kind: 'page', positions, records: records.slice(at, at + positions.length) };
    at += positions.length;
  }
}

/** The pins of slices whose versions are not all in yielded pages yet. */
class PinnedSlices implements Disposable {
  readonly #slices: { readonly pin: Pin; readonly end: number }[] = [];

  /** `pin` is for the versions up to the `end`-th. */
  add(pin: Pin, end: number): void {
    this.#slices.push({ pin, end });
  }

  /** The first `given` versions are in yielded pages: disposes their pins. */
  release(given: number): void {
    for (let slice = this.#slices[0]; slice !== undefined && slice.end <= given; slice = this.#slices[0]) {
      slice.pin[Symbol.dispose]();
      this.#slices.shift();
    }
  }

  [Symbol.dispose](): void {
    this.release(Number.POSITIVE_INFINITY);
  }
}
