import { Reader } from './reader.ts';
import { Writer } from './writer.ts';

/** How one message becomes bytes and back. `write` fills from the end, see Writer. */
export interface Codec<Message, Init> {
  write(writer: Writer, message: Init): void;
  read(reader: Reader, end: number): Message;
}

/** Shared by all messages whose repeated field is empty. */
export const NONE: readonly never[] = [];

const scratch = new Writer(4096);

export function encode<Message, Init>(codec: Codec<Message, Init>, message: Init): Uint8Array {
  codec.write(scratch, message);
  return scratch.finish();
}

/** Throws MalformedMessage when the bytes are no such message. The result shares the bytes' memory. */
export function decode<Message, Init>(codec: Codec<Message, Init>, bytes: Uint8Array): Message {
  const reader = new Reader(bytes);
  return codec.read(reader, reader.end);
}
