/** The events of a run, line by line. Recorded only on request. */
export class Story {
  readonly lines: string[] = [];
  readonly #nowMs: () => number;
  readonly #told: boolean;
  readonly #line: ((line: string) => void) | undefined;

  constructor(nowMs: () => number, told: boolean, line?: (line: string) => void) {
    this.#nowMs = nowMs;
    this.#told = told;
    this.#line = line;
  }

  tell(text: () => string): void {
    if (!this.#told) return;
    const line = `${this.#nowMs().toFixed(3).padStart(11)}  ${text()}`;
    this.lines.push(line);
    this.#line?.(line);
  }
}
