import { CheckpointWriter } from '@engram/coder';
import { type Clock, EMPTY_BYTES, type LogPosition, nextTurn, type VersionMeta } from '@engram/core';
import type { VersionSlot } from '@engram/index';
import type { Pin, Pins } from '@engram/scanner';
import type { ImageBase, ImagePart, Values } from '@engram/storage';
import { checkpointHeader } from './checkpoint-header.ts';
import { visitKept } from './kept-versions.ts';
import { type Cut, PageCutter } from './page-cutter.ts';
import type { ReplicatedState } from './replicated-state.ts';
import { versionMeta } from './version-meta.ts';

/** Keys whose versions are pinned, and whose records are read, before others get their turn. */
const SLICE_KEYS = 1000;
/** Pages whose records are read at once: where the event loop is busy, each read waits for its turn. */
const READ_BYTES = 512 << 10;
/** What a version costs in a page beside its KeyValue. */
const RECORD_OVERHEAD_BYTES = 16;

export interface SharedImageParts {
  readonly state: ReplicatedState;
  readonly pins: Pins;
  readonly values: Values;
  readonly clock: Clock;
  /** Every record before it has taken effect. */
  readonly applied: LogPosition;
  /** Keys that are written before others get their turn. */
  readonly sliceMax: number;
}

export interface SharedImageOptions {
  /** A page ends when it has so many; a single record may be larger. */
  readonly pageBytes: number;
  /** Resolves when so many more bytes may be read and written. */
  readonly pace: (bytes: number) => Promise<void>;
  readonly signal: AbortSignal;
}

/** What `SharedImage.save` writes. */
export interface PartsFrom {
  readonly from: LogPosition;
  readonly parts: (base: ImageBase) => AsyncIterable<ImagePart>;
}

/**
 * The state as a checkpoint has it, and the records of its versions, taken while writes go on. Leases, alarms and marks are
 * those of one position of the log. The keys are walked in slices, so it also has some of what takes effect meanwhile, of keys that
 * it had, and lacks what is compacted meanwhile; both come again in the replay from that position. It has every version that a
 * compaction at the state's compact revision keeps, and none that has not taken effect: who starts from it serves the same
 * history. Pages of the base that have just the versions of their place are kept, and their records are not read.
 */
export function sharedImage(parts: SharedImageParts, options: SharedImageOptions): PartsFrom {
  const { state, clock, applied } = parts;
  const header = checkpointHeader(state, applied, clock.nowMs());
  return { from: applied, parts: (base) => partsOf(header, base, parts, options) };
}

async function* partsOf(
  header: Uint8Array,
  base: ImageBase,
  { state, pins, values, clock, applied, sliceMax }: SharedImageParts,
  { pageBytes, pace, signal }: SharedImageOptions,
): AsyncGenerator<ImagePart> {
  yield { kind: 'chunk', bytes: header };
  const { index } = state;
  const writer = new CheckpointWriter();
  const pages = new PageCutter(base, pageBytes);
  using pinned = new PinnedSlices();
  for (let next: Uint8Array | undefined = EMPTY_BYTES; next !== undefined; ) {
    const chunks: Uint8Array[] = [];
    // Until their records are read: a compaction would let storage forget them.
    const pin = pins.hold(state.compactRevision);
    next = index.walk(next, Math.min(SLICE_KEYS, sliceMax), (key, head) => {
      const versions: VersionMeta[] = [];
      visitKept(index, head, state.compactRevision, state.revision, (slot: VersionSlot) => {
        versions.push(versionMeta(index, slot));
      });
      versions.reverse();
      const [oldest] = versions;
      // A key that was created since: the replay brings all of it, and a walk in which new keys come would have no end.
      if (oldest === undefined || (oldest.version === 1 && oldest.position >= applied)) return;
      for (const { position, bytes } of versions) pages.add(position, bytes + RECORD_OVERHEAD_BYTES);
      const chunk = writer.add(key, versions);
      if (chunk !== undefined) chunks.push(chunk);
    });
    pinned.add(pin, pages.added);
    for (const bytes of chunks) yield { kind: 'chunk', bytes };
    for (const group of groupsOf(pages.cut(next === undefined))) yield* partsOfPages(group, values, pace, signal);
    pinned.release(pages.given);
    await nextTurn(clock);
    signal.throwIfAborted();
  }
  const last = writer.finish();
  if (last !== undefined) yield { kind: 'chunk', bytes: last };
}

/** Neighbours of which so many bytes are to be read that it is worth a read. */
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

/** The pins of slices whose versions are not all given yet. */
class PinnedSlices implements Disposable {
  readonly #slices: { readonly pin: Pin; readonly end: number }[] = [];

  /** Of the versions up to the `end`-th. */
  add(pin: Pin, end: number): void {
    this.#slices.push({ pin, end });
  }

  /** So many versions are given. */
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
