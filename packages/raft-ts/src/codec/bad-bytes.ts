import { type Codec, decode, WireError } from '@engram/protobuf';
import { RaftError } from '../raft-error.ts';

export const badBytes = (fault: string, cause?: unknown): RaftError =>
  new RaftError('bad-bytes', fault, cause === undefined ? undefined : { cause });

/** As `decode`, but what is no protobuf of this form is RaftError `bad-bytes`. */
export function decodeOrRefuse<Form, FormInit>(codec: Codec<Form, FormInit>, bytes: Uint8Array): Form {
  try {
    return decode(codec, bytes);
  } catch (error) {
    if (error instanceof WireError) throw badBytes(error.message, error);
    throw error;
  }
}
