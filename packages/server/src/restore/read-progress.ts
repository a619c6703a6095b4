import type { ByteSource } from '@engram/bbolt';

/** A terminal shows a line at this interval. */
const SHOWN_MS = 200;

/** Where the progress is shown: process.stderr. */
export interface Terminal {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** Shows on a terminal how much of a file, or of what is in it, has gone through each phase. Where there is none, nothing is written. */
export class ReadProgress implements ByteSource, Disposable {
  readonly bytes: number;
  readonly #source: ByteSource;
  readonly #terminal: Terminal;
  readonly #nowMs: () => number;
  #phase = '';
  #read = 0;
  #shownMs = Number.NEGATIVE_INFINITY;

  constructor(source: ByteSource, terminal: Terminal, nowMs: () => number) {
    this.#source = source;
    this.#terminal = terminal;
    this.#nowMs = nowMs;
    this.bytes = source.bytes;
  }

  /** The name of what reads the file from now on. */
  begin(phase: string): void {
    this.#phase = phase;
    this.#read = 0;
  }

  async read(offset: number, bytes: number, signal: AbortSignal, into?: Uint8Array): Promise<Uint8Array> {
    const read = await this.#source.read(offset, bytes, signal, into);
    this.passed(read.length);
    return read;
  }

  /** So many more bytes of the store have gone through a phase that does not read the file. */
  passed(bytes: number): void {
    this.#read += bytes;
    if (this.#terminal.isTTY === true && this.#nowMs() - this.#shownMs >= SHOWN_MS) {
      this.#shownMs = this.#nowMs();
      const percent = Math.min(100, Math.floor((this.#read / Math.max(1, this.bytes)) * 100));
      this.#terminal.write(`\r\x1b[K${this.#phase}: ${percent} % of ${Math.ceil(this.bytes / 2 ** 20)} MiB`);
    }
  }

  /** Clears the line. */
  [Symbol.dispose](): void {
    if (this.#terminal.isTTY === true) this.#terminal.write('\r\x1b[K');
  }
}
