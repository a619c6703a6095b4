import { BboltError, damaged } from './bbolt-error.ts';
import { type ByteSource, readExactly, uint64, viewOf } from './byte-source.ts';
import {
  FORMAT_VERSION,
  fnv1a,
  MAGIC,
  META_BYTES,
  META_CHECKED_BYTES,
  META_PAGES,
  PAGE_HEADER_BYTES,
} from './format.ts';

/** The sizes that a file can have: those of the memory pages of the machines on which bbolt runs. */
const PAGE_BYTES_MIN = 1024;
const PAGE_BYTES_MAX = 64 * 1024;

/** What a meta page says of its file. */
export interface Meta {
  readonly pageBytes: number;
  /** The root of the tree of buckets. */
  readonly root: number;
  /** Pages at or above this id are not in use. */
  readonly pageCount: number;
  readonly transaction: bigint;
}

/**
 * The newer of the two metas that are valid, as bbolt chooses it (db.go: meta, getPageSize): a crash while one is written
 * leaves the other. Where the first is damaged, the size of a page is unknown, and the second is looked for at each.
 */
export async function readMeta(source: ByteSource, signal: AbortSignal): Promise<Meta> {
  if (source.bytes < PAGE_BYTES_MIN) throw new BboltError('cut', `a file of ${source.bytes} bytes has no meta page`);
  const first = await metaAt(source, 0, signal);
  const metas: Meta[] = [];
  if (!(first instanceof BboltError)) metas.push(first);
  for (let at = PAGE_BYTES_MIN; at <= PAGE_BYTES_MAX && at + META_BYTES + PAGE_HEADER_BYTES <= source.bytes; at *= 2) {
    if (!(first instanceof BboltError) && first.pageBytes !== at) continue;
    const second = await metaAt(source, at, signal);
    if (!(second instanceof BboltError) && second.pageBytes === at) metas.push(second);
  }
  const newest = metas.toSorted((left, right) => (left.transaction < right.transaction ? 1 : -1))[0];
  if (newest === undefined) throw first;
  const { pageBytes, pageCount, root } = newest;
  if (pageCount > source.bytes / pageBytes) {
    throw new BboltError('cut', `the file has ${source.bytes} bytes, and says ${pageCount} pages of ${pageBytes}`);
  }
  if (root < META_PAGES || root >= pageCount) throw damaged(`the root is page ${root} of ${pageCount}`);
  return newest;
}

async function metaAt(source: ByteSource, pageAt: number, signal: AbortSignal): Promise<Meta | BboltError> {
  const bytes = await readExactly(source, pageAt + PAGE_HEADER_BYTES, META_BYTES, signal);
  const view = viewOf(bytes);
  if (view.getUint32(0, true) !== MAGIC) return new BboltError('not-bbolt', 'the file does not begin as a bbolt file');
  const version = view.getUint32(4, true);
  if (version !== FORMAT_VERSION) {
    return new BboltError(
      'foreign-version',
      `the file has version ${version} of the format, and not ${FORMAT_VERSION}`,
    );
  }
  if (fnv1a(bytes.subarray(0, META_CHECKED_BYTES)) !== view.getBigUint64(META_CHECKED_BYTES, true)) {
    return damaged('a meta page has a wrong checksum');
  }
  const pageBytes = view.getUint32(8, true);
  if (pageBytes < PAGE_BYTES_MIN || pageBytes > PAGE_BYTES_MAX || (pageBytes & (pageBytes - 1)) !== 0) {
    return damaged(`pages of ${pageBytes} bytes`);
  }
  return {
    pageBytes,
    root: uint64(view, 16),
    pageCount: uint64(view, 40),
    transaction: view.getBigUint64(48, true),
  };
}
