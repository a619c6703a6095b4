import type { LongMessage } from '../rpc.ts';

/** A message that is assembled from its parts, in order, while it is sent. Each part is copied once. */
export class AnswerMessage implements LongMessage {
  readonly bytes: number;
  readonly #parts: Iterator<Uint8Array>;
  #part: Uint8Array = new Uint8Array(0);
  #partAt = 0;

  /** `bytes` is the total length of `parts`. */
  constructor(bytes: number, parts: Iterator<Uint8Array>) {
    this.bytes = bytes;
    this.#parts = parts;
  }

  get heldBytes(): number {
    return this.bytes;
  }

  prepare(): undefined {}

  drop(): void {}

  read(target: Uint8Array, start: number, end: number): number {
    let at = start;
    while (at < end) {
      const left = this.#part.length - this.#partAt;
      if (left === 0) {
        const next = this.#parts.next();
        if (next.done === true) break;
        this.#part = next.value;
        this.#partAt = 0;
        continue;
      }
      const bytes = Math.min(left, end - at);
      target.set(
        bytes === this.#part.length ? this.#part : this.#part.subarray(this.#partAt, this.#partAt + bytes),
        at,
      );
      this.#partAt += bytes;
      at += bytes;
    }
    return at;
  }
}
