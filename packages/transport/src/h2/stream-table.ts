import type { Stream } from './stream.ts';

/** Streams that ended lately; older ones are taken for never opened, and frames for them are no longer excused. */
const remembered = 256;

export type ClosedBy = 'client' | 'server';

/**
 * The streams of a connection: those that are open, and of those that ended lately whether the client had said its
 * last word. If it had, another word is an error; if not, that may have been under way when we ended the stream.
 */
export class StreamTable {
  /** The highest id that the client has opened. */
  lastId = 0;
  readonly #open = new Map<number, Stream>();
  readonly #closedIds = new Int32Array(remembered);
  readonly #closedByClient = new Uint8Array(remembered);
  #nextClosed = 0;

  get size(): number {
    return this.#open.size;
  }

  find(id: number): Stream | undefined {
    return this.#open.get(id);
  }

  add(stream: Stream): void {
    this.#open.set(stream.id, stream);
  }

  remove(id: number, by: ClosedBy): void {
    this.#open.delete(id);
    this.#closedIds[this.#nextClosed] = id;
    this.#closedByClient[this.#nextClosed] = by === 'client' ? 1 : 0;
    this.#nextClosed = (this.#nextClosed + 1) % remembered;
  }

  /** Undefined for a stream that is not remembered. */
  closedBy(id: number): ClosedBy | undefined {
    const at = this.#closedIds.indexOf(id);
    if (at < 0) return undefined;
    return this.#closedByClient[at] === 1 ? 'client' : 'server';
  }

  [Symbol.iterator](): IterableIterator<Stream> {
    return this.#open.values();
  }
}
