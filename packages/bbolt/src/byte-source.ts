import { BboltError } from './bbolt-error.ts';

/** A file of known length. It must not change while it is read. */
export interface ByteSource {
  readonly bytes: number;
  /**
   * The `bytes` bytes from `offset` on, none of them beyond the end. They belong to the caller. The source may put them into `into`,
   * which has room for them, and return a view of it: who reads a whole file needs no new memory for each part.
   */
  read(offset: number, bytes: number, signal: AbortSignal, into?: Uint8Array): Promise<Uint8Array>;
}

/** Reads from a source. One that gives fewer bytes was cut after it was opened. */
export async function readExactly(
  source: ByteSource,
  offset: number,
  bytes: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  signal.throwIfAborted();
  const read = await source.read(offset, bytes, signal);
  if (read.length === bytes) return read;
  throw new BboltError('cut', `${bytes} bytes at ${offset} were asked for, and ${read.length} are there`);
}

export const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** An id or a count. Above 2^53 it is not exact, and larger than that of any page. */
export const uint64 = (view: DataView, at: number): number =>
  view.getUint32(at, true) + view.getUint32(at + 4, true) * 2 ** 32;
