import { Reader } from './reader.ts';
import { Writer } from './writer.ts';

/** Encodes and decodes one message type. The generator creates one codec for each message. */
export interface Codec<Message, Init> {
  /** Writes the message before the bytes that the writer already has; see Writer. */
  write(writer: Writer, message: Init): void;
  /** Reads until the reader's message ends. */
  read(reader: Reader): Message;
}

const scratch = new Writer(4_096);

/** Encodes a message. The caller owns the bytes. */
export function encode<Message, Init>(codec: Codec<Message, Init>, message: Init): Uint8Array {
  // An earlier write that threw has left a part of its message.
  scratch.reset();
  codec.write(scratch, message);
  return scratch.finish();
}

/** Throws WireError if the bytes are not a valid message, or one of more than `fieldsMax` fields: see Reader. The result shares the memory of `bytes`. */
export function decode<Message, Init>(codec: Codec<Message, Init>, bytes: Uint8Array, fieldsMax?: number): Message {
  return codec.read(new Reader(bytes, fieldsMax));
}
