import type { JsonMessage } from '@engram/protobuf';
import { dropMessage, isLong, type Message, messageBytes } from '@engram/wire';
import { JsonOfMessage } from './json/json-of-message.ts';

/** Bytes of a message that become text at a time. */
export const CHUNK_BYTES = 32 * 1024;

/** The memory that a message holds until it is read. */
export const heldBytes = (message: Message): number =>
  message instanceof Uint8Array || !isLong(message) ? messageBytes(message) : message.heldBytes;

/** An encoded message as JSON, in chunks. It is read to its end, or dropped. */
export class MessageChunks {
  readonly #message: Message;
  readonly #json: JsonOfMessage;
  /** What is read of a message in pieces: the piece, and the place in it. */
  #piece = 0;
  #at = 0;
  #leftBytes: number;
  #dropped = false;
  #done = false;

  constructor(type: JsonMessage, message: Message) {
    this.#message = message;
    this.#json = new JsonOfMessage(type);
    this.#leftBytes = messageBytes(message);
  }

  /** `next` has given all. */
  get done(): boolean {
    return this.#done;
  }

  /** The text of at most CHUNK_BYTES more. Rejects if the bytes cannot be had, or after `drop`. */
  async next(): Promise<string> {
    let text = '';
    for (let room = CHUNK_BYTES; room > 0 && this.#leftBytes > 0; ) {
      const bytes = await this.#read(Math.min(room, this.#leftBytes));
      room -= bytes.length;
      this.#leftBytes -= bytes.length;
      text += this.#json.push(bytes);
    }
    if (this.#leftBytes > 0) return text;
    this.#done = true;
    this.drop();
    return text + this.#json.end();
  }

  /** Releases what the message holds. */
  drop(): void {
    if (this.#dropped) return;
    this.#dropped = true;
    dropMessage(this.#message);
  }

  /** Some of the next bytes, at most `max`. */
  async #read(max: number): Promise<Uint8Array> {
    const message = this.#message;
    if (message instanceof Uint8Array) return this.#some(message, max);
    if (!isLong(message)) {
      const piece = message[this.#piece]!;
      if (this.#at === piece.length) {
        this.#piece += 1;
        this.#at = 0;
        return new Uint8Array(0);
      }
      return this.#some(piece, max);
    }
    this.#mayRead();
    for (let ready = message.prepare(max); ready !== undefined; ready = message.prepare(max)) {
      await ready;
      this.#mayRead();
    }
    const bytes = Buffer.allocUnsafe(max);
    return bytes.subarray(0, message.read(bytes, 0, max));
  }

  #some(piece: Uint8Array, max: number): Uint8Array {
    const bytes = piece.subarray(this.#at, this.#at + max);
    this.#at += bytes.length;
    return bytes;
  }

  #mayRead(): void {
    if (this.#dropped) throw new Error('the message was dropped while it was read');
  }
}
