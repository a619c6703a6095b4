/**
 * How much of the files live records need. Exact for what was appended; of what was dropped only the sum is known, or
 * the average is taken for it.
 */
export class Usage {
  #records: number;
  #bytes: number;

  constructor(records: number, bytes: number) {
    this.#records = records;
    this.#bytes = bytes;
  }

  get records(): number {
    return this.#records;
  }

  get bytes(): number {
    return Math.round(this.#bytes);
  }

  appended(records: number, bytes: number): void {
    this.#records += records;
    this.#bytes += bytes;
  }

  dropped(records: number, bytes: number | undefined): void {
    if (this.#records === 0) return;
    const gone = Math.min(records, this.#records);
    this.#bytes = Math.max(0, this.#bytes - (bytes ?? (this.#bytes / this.#records) * gone));
    this.#records -= gone;
  }
}
