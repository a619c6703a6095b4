import { DEFAULT_MAX_FRAME_BYTES } from '@engram/http2';
import type { Output } from './output.ts';
import type { Stream } from './stream.ts';

/**
 * The DATA frame that was written last, while nothing is written after it. The stream's next message extends it,
 * because a frame for each of many short messages costs the client more than the messages do, and the server too.
 */
export class LastData {
  /** `pendingBytes` of the output directly after the frame. */
  end = 0;
  #stream: Stream | undefined;
  #slab: Uint8Array = new Uint8Array(0);
  #at = 0;
  #bytes = 0;

  /** The frame's header will be written at `output.at`. */
  open(stream: Stream, bytes: number, output: Output): void {
    this.#stream = stream;
    this.#slab = output.slab;
    this.#at = output.at;
    this.#bytes = bytes;
  }

  /**
   * Whether this many more bytes of the stream may go into the frame. No frame grows beyond the size that every client
   * accepts.
   */
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

  /** The batch is sent, so the frame can no longer be extended. */
  close(): void {
    this.#stream = undefined;
  }
}
