import { recordBytes } from '@engram/storage';

/**
 * Counts what was written to a stream and is not sent yet, in bytes. (The stream of a call counts messages.) One writer waits at
 * a time.
 */
export class UnsentBytes {
  readonly #bytesMax: number;
  readonly #signal: AbortSignal;
  #bytes = 0;
  #wake: (() => void) | undefined;

  constructor(bytesMax: number, signal: AbortSignal) {
    this.#bytesMax = bytesMax;
    this.#signal = signal;
  }

  /** The returned function says that these records were sent, or never will be. */
  add(records: readonly Uint8Array[]): () => void {
    const bytes = recordBytes(records);
    this.#bytes += bytes;
    return () => {
      this.#bytes -= bytes;
      if (this.#bytes <= this.#bytesMax) this.#wake?.();
    };
  }

  /** Resolves when no more than `bytesMax` are unsent, or the signal aborts. */
  async room(): Promise<void> {
    if (this.#bytes <= this.#bytesMax || this.#signal.aborted) return;
    await new Promise<void>((resolve) => {
      const end = (): void => {
        this.#wake = undefined;
        this.#signal.removeEventListener('abort', end);
        resolve();
      };
      this.#wake = end;
      this.#signal.addEventListener('abort', end);
    });
  }
}
