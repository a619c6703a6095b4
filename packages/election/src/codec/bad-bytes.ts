import { type Codec, decode, WireError } from '@engram/protobuf';
import { RaftError } from '@engram/raft-ts';
import { ElectionError } from '../election-error.ts';

export const badBytes = (fault: string, cause?: unknown): ElectionError =>
  new ElectionError('bad-bytes', fault, cause === undefined ? undefined : { cause });

/** As `decode`, but throws ElectionError `bad-bytes` for bytes that are no protobuf of this form. */
export function decodeOrRefuse<Form, FormInit>(codec: Codec<Form, FormInit>, bytes: Uint8Array): Form {
  return refusing(() => decode(codec, bytes));
}

/** Turns WireError, and RaftError `bad-bytes`, into ElectionError `bad-bytes`. */
export function refusing<Result>(decoding: () => Result): Result {
  try {
    return decoding();
  } catch (error) {
    if (error instanceof WireError || (error instanceof RaftError && error.code === 'bad-bytes')) {
      throw badBytes(error.message, error);
    }
    throw error;
  }
}
