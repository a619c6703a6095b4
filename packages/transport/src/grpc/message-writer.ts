import { putUint32 } from '@engram/http2';
import { dropMessage, isLong, type LongMessage, type Message, type RpcStatus } from '@engram/wire';
import { COPY_MAX_BYTES } from '../h2/output.ts';
import type { Sender } from '../h2/sender.ts';
import type { Stream } from '../h2/stream.ts';
import { AnswerFrames, type AnswerForm } from './answer-frames.ts';
import { deflate } from './gzip.ts';
import { MESSAGE_PREFIX_BYTES } from './message-assembler.ts';

/** A stream that carries messages. */
export interface MessageStream extends Stream {
  headSent: boolean;
  /** The form of the answer, if it is not the default. */
  readonly answerForm: AnswerForm | undefined;
}

/** Writes the messages and statuses of one connection as DATA and trailers. */
export class MessageWriter {
  readonly #sender: Sender;
  readonly #frames: AnswerFrames;

  constructor(sender: Sender) {
    this.#sender = sender;
    this.#frames = new AnswerFrames(sender.headers);
  }

  /**
   * Writes the whole answer to a successful call: head, message, trailers. False if the caller must send the parts one
   * by one.
   */
  unary(stream: MessageStream, message: Message, messageBytes: number): boolean {
    const sender = this.#sender;
    const dataBytes = MESSAGE_PREFIX_BYTES + messageBytes;
    if (dataBytes > COPY_MAX_BYTES || stream.answerForm !== undefined || !sender.fits(stream, dataBytes)) return false;
    const unwritten = isWritten(message) ? undefined : message;
    // The error is ignored here: the caller then sends the parts one by one, which prepares the message again.
    const waits = unwritten?.prepare(messageBytes)?.catch(() => {});
    if (waits !== undefined) return false;
    sender.announceAnswer();
    sender.shared(this.#frames.head(), stream.id);
    sender.frame(stream, dataBytes);
    this.#prefix(0, messageBytes);
    if (isWritten(message)) this.#write(message);
    else this.#make(message, messageBytes);
    sender.shared(this.#frames.ok(), stream.id);
    sender.streamEnded(stream);
    return true;
  }

  /** Writes one message of a stream, after the head if that was not sent. */
  message(stream: MessageStream, message: Message, messageBytes: number): void {
    if (this.#sender.ended) {
      dropMessage(message);
      return;
    }
    if (!stream.headSent) this.#head(stream);
    const compressed = stream.answerForm?.gzip === true ? deflate(message) : undefined;
    if (compressed === undefined) this.#message(stream, 0, message, messageBytes);
    else this.#message(stream, 1, compressed, compressed.length);
  }

  /** Writes the last frame of a stream. */
  status(stream: MessageStream, { code, message }: RpcStatus, httpStatus: number): void {
    const { id, answerForm } = stream;
    if (!stream.headSent) this.#sender.control(this.trailersOnly(id, httpStatus, code, message, answerForm));
    else if (code === 0) this.#sender.shared(this.#frames.ok(), id);
    else this.#sender.control(this.#frames.trailers(id, code, message));
  }

  /** An answer without messages. */
  trailersOnly(streamId: number, httpStatus: number, code: number, message: string, form?: AnswerForm): Buffer {
    return this.#frames.trailersOnly(streamId, httpStatus, code, message, form);
  }

  /** Like `trailersOnly`, for an answer that continues with a body. */
  headWithStatus(streamId: number, httpStatus: number, code: number, message: string): Buffer {
    return this.#frames.headWithStatus(streamId, httpStatus, code, message);
  }

  #head(stream: MessageStream): void {
    stream.headSent = true;
    if (stream.answerForm === undefined) this.#sender.shared(this.#frames.head(), stream.id);
    else this.#sender.control(this.#frames.headOf(stream.id, stream.answerForm));
  }

  #message(stream: Stream, compressedFlag: number, message: Message, messageBytes: number): void {
    const sender = this.#sender;
    const dataBytes = MESSAGE_PREFIX_BYTES + messageBytes;
    if (isWritten(message) && sender.fits(stream, dataBytes)) {
      sender.join(stream, dataBytes);
      this.#prefix(compressedFlag, messageBytes);
      this.#write(message);
      sender.joined();
      return;
    }
    const prefix = Buffer.allocUnsafe(MESSAGE_PREFIX_BYTES);
    prefix[0] = compressedFlag;
    putUint32(prefix, 1, messageBytes);
    if (!isWritten(message)) message.stays?.();
    sender.queue(stream, prefix, message);
  }

  #write(message: Uint8Array | readonly Uint8Array[]): void {
    const { output } = this.#sender;
    if (message instanceof Uint8Array) output.put(message);
    else for (const piece of message) output.put(piece);
  }

  /** Writes to contiguous room in one slab, so that the message is not split. */
  #make(message: LongMessage, messageBytes: number): void {
    const { output } = this.#sender;
    output.room(messageBytes);
    output.pull(message, messageBytes);
    message.drop();
  }

  #prefix(compressedFlag: number, messageBytes: number): void {
    const { output } = this.#sender;
    output.room(MESSAGE_PREFIX_BYTES);
    output.slab[output.at] = compressedFlag;
    output.at = putUint32(output.slab, output.at + 1, messageBytes);
  }
}

/** The bytes exist. A message that is encoded while it is sent goes through the queue, however short it is. */
const isWritten = (message: Message): message is Uint8Array | readonly Uint8Array[] =>
  message instanceof Uint8Array || !isLong(message);
