import { BboltError, damaged } from './bbolt-error.ts';
import { type ByteSource, uint64, viewOf } from './byte-source.ts';
import { BUCKET_HEADER_BYTES, PAGE_HEADER_BYTES } from './format.ts';
import { type Meta, readMeta } from './meta.ts';
import { type LeafEntry, pageHead, parsePage } from './page.ts';
import { type PageLimits, TreeReader } from './tree-reader.ts';

export interface ReaderLimits extends PageLimits {
  readonly bucketsMax: number;
}

/** etcd has about ten buckets; a version is at most its largest request; a branch is a page, or four keys at most. */
export const READER_LIMITS: ReaderLimits = {
  bucketsMax: 1_000,
  leafBytesMax: 64 * 1024 * 1024,
  branchBytesMax: 1024 * 1024,
};

/** An entry of a bucket. Views of memory that the reader does not use again. */
export interface BucketEntry {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

/** Where a bucket's entries are: a tree of pages, or the one page in its value. */
type Place = { readonly root: number } | { readonly inline: Uint8Array };

interface Bucket {
  readonly name: Uint8Array;
  readonly place: Place;
}

/**
 * Reads a bbolt file that nobody writes to: the buckets at the top, and their entries in the order of the keys. Whatever
 * the bytes are, a read ends with all entries or with a BboltError, reads each page at most once, and holds a leaf, the
 * branches above it, and a bit for each page.
 */
export class BboltReader {
  readonly #source: ByteSource;
  readonly #meta: Meta;
  readonly #limits: ReaderLimits;
  readonly #buckets: readonly Bucket[];

  private constructor(source: ByteSource, meta: Meta, limits: ReaderLimits, buckets: readonly Bucket[]) {
    this.#source = source;
    this.#meta = meta;
    this.#limits = limits;
    this.#buckets = buckets;
  }

  /** Reads the metas and the names of the buckets. Rejects with BboltError, with the signal's reason or the source's. */
  static async open(source: ByteSource, signal: AbortSignal, limits = READER_LIMITS): Promise<BboltReader> {
    const meta = await readMeta(source, signal);
    const buckets: Bucket[] = [];
    for await (const entries of new TreeReader(source, meta, limits, signal).leaves(meta.root)) {
      for (const entry of entries) buckets.push(bucketOf(entry, meta));
      if (buckets.length > limits.bucketsMax) {
        throw new BboltError('too-large', `more than ${limits.bucketsMax} buckets`);
      }
    }
    return new BboltReader(source, meta, limits, buckets);
  }

  /** The names of the buckets, in their order. */
  get names(): readonly Uint8Array[] {
    return this.#buckets.map(({ name }) => name);
  }

  /** The entries of a bucket, a page at a time, in the order of the keys. Undefined if the file has no such bucket. */
  entries(name: Uint8Array, signal: AbortSignal): AsyncGenerator<readonly BucketEntry[]> | undefined {
    const bucket = this.#buckets.find((other) => Buffer.compare(other.name, name) === 0);
    return bucket === undefined ? undefined : this.#entries(bucket.place, signal);
  }

  async *#entries(place: Place, signal: AbortSignal): AsyncGenerator<readonly BucketEntry[]> {
    if ('inline' in place) {
      const page = parsePage(place.inline, 'an inline page');
      if (page.kind === 'branch') throw damaged('an inline page is a branch');
      if (page.entries.length > 0) yield checked(page.entries);
      return;
    }
    const tree = new TreeReader(this.#source, this.#meta, this.#limits, signal);
    for await (const entries of tree.leaves(place.root)) yield checked(entries);
  }
}

function bucketOf({ key, value, isBucket }: LeafEntry, { pageBytes }: Meta): Bucket {
  if (!isBucket) throw damaged('an entry of the root is no bucket');
  if (value.length < BUCKET_HEADER_BYTES) throw damaged(`a bucket's header of ${value.length} bytes`);
  const name = Uint8Array.from(key);
  const root = uint64(viewOf(value), 0);
  if (root !== 0) return { name, place: { root } };
  const inline = value.subarray(BUCKET_HEADER_BYTES);
  if (inline.length < PAGE_HEADER_BYTES || inline.length > pageBytes || pageHead(inline).overflow > 0) {
    throw damaged(`an inline page of ${inline.length} bytes`);
  }
  return { name, place: { inline: Uint8Array.from(inline) } };
}

function checked(entries: readonly LeafEntry[]): readonly BucketEntry[] {
  if (entries.some(({ isBucket }) => isBucket)) throw new BboltError('nested', 'a bucket is within a bucket');
  return entries;
}
