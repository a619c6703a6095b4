import { type FileHandle, mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { assert } from '@engram/core';
import { StorageCorruptError } from '@engram/storage';
import { decodePiecePart, encodePiece } from '../format/image-piece.ts';
import type { ImagePieces } from '../image/image-pieces.ts';
import { type Image, parseImage } from '../format/image-root.ts';
import type { ImageKind } from '../format/log-keys.ts';

// Two files in a directory of their own. `pieces` has the pieces one behind the other, places before pages. Each piece is
// encoded as one value in TiKV would be. `index`, a line of JSON, names the image and the end of each piece. It is written
// last, and `pieces` is not used without it. Neither file is synced: each piece has a CRC, and pieces that a crash of the
// machine has damaged are fetched again.

/** The kinds of pieces that are kept in the directory. */
export type LocalKind = Extract<ImageKind, 'page' | 'places'>;

export const localKinds: readonly LocalKind[] = ['places', 'page'];

export interface LocalPiecesOptions {
  readonly path: string;
  readonly clusterId: bigint;
  readonly prefix: string;
}

const FORMAT = 1;
/** A piece of any size is one value here. */
const WHOLE = 2 ** 32;

type Ends = Readonly<Record<LocalKind, readonly number[]>>;

/** An image's pages, and the places that lead to them, on this node's disk. */
export class LocalPieces implements ImagePieces, AsyncDisposable {
  readonly image: Image;
  readonly #path: string;
  readonly #file: FileHandle;
  /** Where each piece ends in the file. */
  readonly #ends: Ends;

  private constructor(image: Image, path: string, file: FileHandle, ends: Ends) {
    this.image = image;
    this.#path = path;
    this.#file = file;
    this.#ends = ends;
  }

  /** Opens complete pieces of this cluster; undefined if there are none. Their content is checked when it is read. */
  static async open({ path, clusterId, prefix }: LocalPiecesOptions): Promise<LocalPieces | undefined> {
    const index = await readIndex(path);
    if (index?.clusterId !== clusterId.toString(16) || index.prefix !== prefix) return undefined;
    const file = await open(join(path, 'pieces'), 'r').catch(() => undefined);
    if (file === undefined) return undefined;
    const { size } = await file.stat();
    if (size === (index.ends.page.at(-1) ?? index.ends.places.at(-1) ?? 0)) {
      return new LocalPieces(index.image, path, file, index.ends);
    }
    await file.close();
    return undefined;
  }

  async fetch(kind: ImageKind, numbers: readonly number[]): Promise<readonly Uint8Array[]> {
    assert(kind === 'page' || kind === 'places', 'a piece that is not kept here');
    return await Promise.all(numbers.map((number) => this.#read(kind, number)));
  }

  async #read(kind: LocalKind, number: number): Promise<Uint8Array> {
    const end = this.#ends[kind][number];
    const before = number > 0 ? this.#ends[kind][number - 1] : kind === 'page' ? this.#ends.places.at(-1) : 0;
    const start = before ?? 0;
    if (end === undefined) throw this.#damaged(kind, number);
    const value = new Uint8Array(end - start);
    const { bytesRead } = await this.#file.read(value, 0, value.length, start);
    const part = decodePiecePart({ round: this.image.round, kind, number, part: 0 }, value);
    if (bytesRead !== value.length || part === undefined) throw this.#damaged(kind, number);
    return part.payload;
  }

  #damaged(kind: LocalKind, number: number): StorageCorruptError {
    return new StorageCorruptError(`${kind} ${number} of image ${this.image.round} is damaged`, this.#path);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close();
  }
}

/** Writes pieces in their order, places first. */
export class LocalPiecesWriter implements AsyncDisposable {
  readonly #options: LocalPiecesOptions;
  readonly #image: Image;
  readonly #file: FileHandle;
  readonly #ends: Record<LocalKind, number[]> = { places: [], page: [] };
  #bytes = 0;

  private constructor(options: LocalPiecesOptions, image: Image, file: FileHandle) {
    this.#options = options;
    this.#image = image;
    this.#file = file;
  }

  /** Replaces what is in the directory. */
  static async create(options: LocalPiecesOptions, image: Image): Promise<LocalPiecesWriter> {
    await rm(options.path, { recursive: true, force: true });
    await mkdir(options.path, { recursive: true, mode: 0o700 });
    return new LocalPiecesWriter(options, image, await open(join(options.path, 'pieces'), 'wx', 0o600));
  }

  async add(kind: LocalKind, payloads: readonly Uint8Array[]): Promise<void> {
    const { round } = this.#image;
    const values: Uint8Array[] = [];
    for (const payload of payloads) {
      const [value] = encodePiece({ round, kind, number: this.#ends[kind].length }, payload, WHOLE);
      this.#bytes += value!.length;
      this.#ends[kind].push(this.#bytes);
      values.push(value!);
    }
    const joined = Buffer.concat(values);
    for (let at = 0; at < joined.length; ) at += (await this.#file.write(joined, at)).bytesWritten;
  }

  /** Writes the index. All pieces must have been added. */
  async finish(): Promise<void> {
    const { path, clusterId, prefix } = this.#options;
    const image = this.#image;
    for (const kind of localKinds) assert(this.#ends[kind].length === image.totals[kind].count, 'a piece is not there');
    const text = { format: FORMAT, clusterId: clusterId.toString(16), prefix, image, ends: this.#ends };
    await writeFile(join(path, 'index.new'), JSON.stringify(text), { mode: 0o600 });
    await rename(join(path, 'index.new'), join(path, 'index'));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close();
  }
}

interface Index {
  readonly clusterId: string;
  readonly prefix: string;
  readonly image: Image;
  readonly ends: Ends;
}

async function readIndex(path: string): Promise<Index | undefined> {
  let index: unknown;
  try {
    index = JSON.parse(await readFile(join(path, 'index'), 'utf8'));
  } catch {
    return undefined;
  }
  if (typeof index !== 'object' || index === null || !('format' in index) || index.format !== FORMAT) return undefined;
  if (!('clusterId' in index && 'prefix' in index && 'image' in index && 'ends' in index)) return undefined;
  const { clusterId, prefix, ends } = index;
  const image = parseImage(index.image);
  if (typeof clusterId !== 'string' || typeof prefix !== 'string' || image === undefined) return undefined;
  if (typeof ends !== 'object' || ends === null || !('places' in ends && 'page' in ends)) return undefined;
  const { places, page } = ends;
  return isEnds(places) && isEnds(page) ? { clusterId, prefix, image, ends: { places, page } } : undefined;
}

function isEnds(value: unknown): value is number[] {
  return (
    Array.isArray(value) && value.every((end, at) => Number.isSafeInteger(end) && end > (at > 0 ? value[at - 1] : 0))
  );
}
