import { logPosition, type LogPosition, type Seal } from '@engram/core';
import type { ImageBase, ImagePart, Storage } from '@engram/storage';
import { never } from '@engram/storage/testing';
import { LogKeys, type TikvStorage, type TikvStorageOptions } from '@engram/storage-tikv';
import type { TikvClient } from '@engram/tikv-client';
import { expect } from 'vitest';
import { emptyChain } from '../src/format/chain.ts';
import { TikvPieces } from '../src/image/image-pieces.ts';
import { decodeImageRoot, EMPTY_IMAGE_ROOT, type ImageRoot } from '../src/format/image-root.ts';
import type { ImageKey } from '../src/format/log-keys.ts';
import { batchOf, SimBed } from './sim-bed.ts';

/** The live records among this many positions are in one page. */
const PAGE_POSITIONS = 10;

/**
 * The positions of live records after a replay up to `end`. In these tests, every third record is superseded at once, and every
 * 17th one when the log is 20 records longer.
 */
export const liveBefore = (end: number): LogPosition[] =>
  Array.from({ length: end - 1 }, (_, index) => logPosition(index + 1)).filter(
    (position) => position % 3 !== 0 && (position % 17 !== 0 || position + 20 > end),
  );

/** An image of the records in `liveBefore(from)`. Its chunk names `from`. Clean pages are kept. */
export function imageAt(from: number): (base: ImageBase) => AsyncGenerator<ImagePart> {
  return async function* (base) {
    yield { kind: 'chunk', bytes: Uint8Array.from(Buffer.from(`image at ${from}`)) };
    const live = liveBefore(from);
    for (let first = 0; first < from; first += PAGE_POSITIONS) {
      const positions = live.filter((position) => first <= position && position < first + PAGE_POSITIONS);
      if (positions.length === 0) continue;
      if (base.has(positions)) yield { kind: 'kept', positions };
      else yield { kind: 'page', positions, records: positions.map((position) => batchOf(position).records[0]!) };
    }
  };
}

/** Nodes that write images, and access to the keys that TiKV has. */
export class ImageBed extends SimBed {
  readonly logKeys = new LogKeys('test');

  /** Appends batches of four records, from `from` up to `end`. */
  async fill(storage: Storage, from: number, end: number, seal: Seal): Promise<void> {
    for (let first = from; first < end; first += 4) {
      const batch = batchOf(first, Math.min(first + 3, end - 1));
      expect(await this.append(storage, batch, seal)).toBe('committed');
    }
  }

  save(storage: TikvStorage, from: number, signal: AbortSignal = never): Promise<string> {
    return this.run(storage.image.save(logPosition(from), imageAt(from), signal));
  }

  /** Saves an image, and expects that of earlier rounds only the pieces that the previous image names are left. */
  async saveCollecting(storage: TikvStorage, from: number): Promise<void> {
    const client = await this.client();
    const before = await this.#named(client);
    expect(await this.save(storage, from)).toBe('published');
    const { image } = await this.#root(client);
    const left = (await this.pieces(client)).filter(({ round }) => round !== image!.round);
    expect(left.map(nameOf).filter((name) => !before.has(name))).toEqual([]);
    const there = new Set((await this.pieces(client)).map(nameOf));
    expect([...(await this.#named(client))].filter((name) => !there.has(name))).toEqual([]);
  }

  /** The pieces of the published image. */
  async #named(client: TikvClient): Promise<ReadonlySet<string>> {
    const { image } = await this.#root(client);
    if (image === undefined) return new Set();
    const source = { client, keys: this.logKeys, empty: emptyChain(7n), name: 'the log', timeoutMs: 10_000 };
    const pages = (await this.run(new TikvPieces(source, image).directory(never)))!;
    const names = pages.map(({ round, number }) => nameOf({ round, kind: 'page', number }));
    for (const kind of ['chunk', 'places', 'directory'] as const)
      for (let number = 0; number < image.totals[kind].count; number += 1)
        names.push(nameOf({ round: image.round, kind, number }));
    return new Set(names);
  }

  async #root(client: TikvClient): Promise<ImageRoot> {
    const value = await this.run(client.get(this.logKeys.image));
    return value === undefined ? EMPTY_IMAGE_ROOT : decodeImageRoot(value)!;
  }

  async pieces(client: TikvClient): Promise<ImageKey[]> {
    const [start, end] = [this.logKeys.roundStart(0), this.logKeys.roundStart(Number.MAX_SAFE_INTEGER)];
    return (await this.keysOf(client, { start, end })).map((key) => this.logKeys.parsePiece(key)!);
  }

  /** Expects that a node that starts finds the whole store: every live record, and the log to its end. */
  async expectWhole(end: number, more: Partial<TikvStorageOptions> = {}): Promise<void> {
    const node = await this.open(more);
    try {
      await this.run(expectWhole(node, end));
    } finally {
      await this.run(node[Symbol.asyncDispose]());
    }
  }

  async keysOf(client: TikvClient, range: { readonly start: Uint8Array; readonly end: Uint8Array }) {
    const reading = async (): Promise<Uint8Array[]> => {
      const found: Uint8Array[] = [];
      const snapshot = await client.snapshot();
      for await (const { key } of snapshot.scan(range.start, range.end, { keysOnly: true })) found.push(key);
      return found;
    };
    return await this.run(reading());
  }

  /** The rounds that have pieces. */
  async rounds(client: TikvClient): Promise<number[]> {
    return [...new Set((await this.pieces(client)).map(({ round }) => round))];
  }

  /** The segments that have batches. */
  async segments(client: TikvClient): Promise<number[]> {
    const found = await this.keysOf(client, { start: this.logKeys.logStart, end: this.logKeys.logEnd });
    const parsed = found.map((key) => this.logKeys.parse(key)!);
    return [...new Set(parsed.filter(({ kind }) => kind === 'slot').map(({ segment }) => segment))];
  }
}

const nameOf = ({ round, kind, number }: Omit<ImageKey, 'part'>): string => `${round} ${kind} ${number}`;

export async function expectWhole(node: Storage, end: number): Promise<void> {
  const checkpoint = await node.values.loadCheckpoint();
  const from = checkpoint?.from ?? logPosition(1);
  if (checkpoint !== undefined) {
    const chunks: string[] = [];
    for await (const chunk of checkpoint.chunks(never)) chunks.push(Buffer.from(chunk).toString());
    expect(chunks).toEqual([`image at ${from}`]);
  }
  let next: number = from;
  for await (const { first, records } of node.log.read(from, never)) {
    expect(first).toBe(next);
    for (const record of records) {
      expect(Buffer.from(record).readUInt32LE()).toBe(next);
      next += 1;
    }
  }
  expect(next).toBe(end);
  const live = liveBefore(end);
  const records = await node.values.getMany(live, never);
  expect(records.map((record) => Buffer.from(record).readUInt32LE())).toEqual(live);
}
