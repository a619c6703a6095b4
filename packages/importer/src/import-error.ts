import { FaultError } from '@engram/core';

/** Why a file is not taken. A file that is no sound bbolt file at all ends in a BboltError. */
export type ImportFault =
  /** It has no SHA-256 at its end, as the file of a data directory. */
  | 'no-hash'
  /** Its bytes are not those of which it has the SHA-256. */
  | 'wrong-hash'
  /** It is a bbolt file, and not etcd's. */
  | 'not-etcd'
  /** A version of etcd whose data is not known here. */
  | 'foreign-version'
  /** An entry, an order or a history that etcd does not write. */
  | 'damaged'
  /** More than a store can hold. */
  | 'too-large';

/** A file that is refused. The message is for the operator. */
export class ImportError extends FaultError<ImportFault> {
  override readonly name = 'ImportError';
}

export const damagedEntry = (message: string, options?: ErrorOptions): ImportError =>
  new ImportError('damaged', message, options);
