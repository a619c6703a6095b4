/** Counts passed and failed checks, and continues after a failure. */
export class Checks {
  passed = 0;
  failed = 0;
  /** What the lab's strict proxy refused, if anything: a check may fail because of it without seeing it. */
  refusal: () => string | undefined = () => undefined;
  readonly #only: string | undefined;

  constructor(only: string | undefined) {
    this.#only = only;
  }

  async check(name: string, body: () => Promise<unknown>): Promise<void> {
    if (this.#only !== undefined && !this.#only.split(',').some((part) => name.includes(part))) return;
    const startMs = performance.now();
    try {
      this.#needProxy();
      const note = await body();
      this.#needProxy();
      this.passed += 1;
      console.log(
        `ok   ${name} (${((performance.now() - startMs) / 1_000).toFixed(1)} s)${typeof note === 'string' ? `\n     ${note}` : ''}`,
      );
    } catch (error) {
      this.failed += 1;
      console.log(`FAIL ${name}\n     ${error instanceof Error ? error.stack : String(error)}`);
      const refusal = this.refusal();
      if (refusal !== undefined && !String(error).includes(refusal))
        console.log(`     the strict proxy refused: ${refusal}`);
    }
  }

  #needProxy(): void {
    const refusal = this.refusal();
    if (refusal !== undefined) throw new Error(`the strict proxy refused: ${refusal}`);
  }

  end(part: string): void {
    console.log(`${part}: ${this.passed} passed, ${this.failed} failed`);
    process.exitCode = this.failed === 0 ? 0 : 1;
  }
}

export function expectEqual(actual: unknown, expected: unknown, what: string): void {
  const show = (value: unknown): string =>
    JSON.stringify(value, (_, inner: unknown) => (typeof inner === 'bigint' ? `${inner}n` : inner));
  if (show(actual) !== show(expected)) throw new Error(`${what}: ${show(actual)} is not ${show(expected)}`);
}
