import { DEFAULT_MAX_FRAME_BYTES } from '@engram/wire';
import type { Output } from './output.ts';
import type { Stream } from './stream.ts';

/**
 * The DATA frame that was written last, while nothing is written behind it. A stream's next message lengthens it: a
 * frame for each of many short messages costs the client more than the messages do, and us too.
 */
export class LastData {
  /** `pendingBytes` of the output behind the frame. */
  end = 0;
  #stream: Stream | undefined;
  #slab: Uint8Array = new Uint8Array(0);
  #at = 0;
  #bytes = 0;

  /** The frame's header is about to be written at `output.at`. */
  open(stream: Stream, bytes: number, output: Output): void {
    this.#stream = stream;
    this.#slab = output.slab;
    this.#at = output.at;
    this.#bytes = bytes;
  }

  /** So many bytes more of this stream may go into it. No frame grows past what every client takes. */
  follows(stream: Stream, bytes: number, output: Output): boolean {
    return (
      stream === this.#stream && this.#bytes + bytes <= DEFAULT_MAX_FRAME_BYTES && output.pendingBytes === this.end
    );
  }

  lengthen(bytes: number): void {
    this.#bytes += bytes;
    this.#slab[this.#at] = this.#bytes >>> 16;
    this.#slab[this.#at + 1] = this.#bytes >>> 8;
    this.#slab[this.#at + 2] = this.#bytes;
  }

  /** The batch leaves. */
  close(): void {
    this.#stream = undefined;
  }
}
