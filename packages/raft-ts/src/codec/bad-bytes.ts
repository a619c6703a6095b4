import { type Codec, decode, WireError } from '@engram/protobuf';
import { RaftError } from '../raft-error.ts';

export const badBytes = (fault: string, cause?: unknown): RaftError =>
  new RaftError('bad-bytes', fault, cause === undefined ? undefined : { cause });

/** As `decode`, but throws RaftError `bad-bytes` for bytes that are no protobuf of this form. */
export function decodeOrRefuse<Form, FormInit>(codec: Codec<Form, FormInit>, bytes: Uint8Array): Form {
  try {
    return decode(codec, bytes);
  } catch (error) {
    if (error instanceof WireError) throw badBytes(error.message, error);
    throw error;
  }
}
