/** Counts checks, and says each. */
export class Judge {
  readonly #part: string;
  #passed = 0;
  #failed = 0;

  constructor(part: string) {
    this.#part = part;
  }

  async check(what: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.#passed += 1;
      console.log(`ok: ${what}`);
    } catch (error) {
      this.#failed += 1;
      console.log(`FAILED: ${what}: ${error instanceof Error ? error.stack : String(error)}`);
    }
  }

  /** All of a judge's work, and then the end of its process. A failure outside a check ends the work. */
  async run(work: () => Promise<void>): Promise<never> {
    try {
      await work();
    } catch (error) {
      await this.check('the run', () => Promise.reject(error));
    }
    this.end();
    process.exit();
  }

  /** The last line, and the exit code: not 0 either where nothing was checked. */
  end(): void {
    console.log(`e2e-${this.#part}: ${this.#passed} passed, ${this.#failed} failed`);
    process.exitCode = this.#failed === 0 && this.#passed > 0 ? 0 : 1;
  }
}

export function equal(what: string, found: unknown, wanted: unknown): void {
  if (found !== wanted) throw new Error(`${what}: ${String(found)}, and not ${String(wanted)}`);
}
