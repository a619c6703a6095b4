import { Reader } from './reader.ts';
import { Writer } from './writer.ts';

/** How a message becomes bytes and back. The generator makes one for each message. */
export interface Codec<Message, Init> {
  /** Writes the message in front of what the writer has already, see Writer. */
  write(writer: Writer, message: Init): void;
  /** Reads until the reader's message ends. */
  read(reader: Reader): Message;
}

const scratch = new Writer(4_096);

/** The caller owns the bytes. */
export function encode<Message, Init>(codec: Codec<Message, Init>, message: Init): Uint8Array {
  // A write that threw has left part of its message behind.
  scratch.reset();
  codec.write(scratch, message);
  return scratch.finish();
}

/** Throws WireError if the bytes are not such a message. The result shares the bytes' memory. */
export function decode<Message, Init>(codec: Codec<Message, Init>, bytes: Uint8Array): Message {
  return codec.read(new Reader(bytes));
}
