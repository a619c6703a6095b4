import { FaultError } from '@engram/core';

/** Why a file is not read. */
export type BboltFault =
  /** It does not begin as a bbolt file. */
  | 'not-bbolt'
  /** Another version of the format than 2. */
  | 'foreign-version'
  /** The file is shorter than it says. */
  | 'cut'
  /** A checksum, an id, an order or a length is wrong, or a page is reached twice. */
  | 'damaged'
  /** A page or the number of buckets is above a limit of the reader. */
  | 'too-large'
  /** A bucket within a bucket, which etcd does not use. */
  | 'nested';

/** A file that is refused. Nothing of it that was handed out before is wrong, but it is not all. */
export class BboltError extends FaultError<BboltFault> {
  override readonly name = 'BboltError';
}

export const damaged = (message: string): BboltError => new BboltError('damaged', message);
