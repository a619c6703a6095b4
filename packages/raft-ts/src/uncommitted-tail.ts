import type { LogIndex } from './log-index.ts';

/**
 * The application's bytes that a leader has appended and that are not committed. Without a majority the log would grow with
 * everything that clients propose, so proposals are refused at the bound.
 */
export class UncommittedTail {
  readonly #bytesMax: number;
  #entries: { readonly index: LogIndex; readonly bytes: number }[] = [];
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** If no bytes are uncommitted, one proposal of any size is taken. An empty entry is always taken. */
  hasRoom(bytes: number): boolean {
    return this.#bytes === 0 || bytes === 0 || this.#bytes + bytes <= this.#bytesMax;
  }

  add(index: LogIndex, bytes: number): void {
    if (bytes === 0) return;
    this.#entries.push({ index, bytes });
    this.#bytes += bytes;
  }

  committed(through: LogIndex): void {
    let done = 0;
    for (const { index, bytes } of this.#entries) {
      if (index > through) break;
      this.#bytes -= bytes;
      done += 1;
    }
    if (done > 0) this.#entries.splice(0, done);
  }
}
