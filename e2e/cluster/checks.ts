import type { MemberProcess } from './cluster-member.ts';

/** Log lines shown for each member when a check fails. */
const LINES_SHOWN = 12;

/** Runs checks one after another. Each prints a line. A failed one also prints the last log lines of all members. */
export class Checks {
  readonly #members: () => readonly MemberProcess[];
  passed = 0;
  failed = 0;

  constructor(members: () => readonly MemberProcess[]) {
    this.#members = members;
  }

  /** `work` returns the details to print. */
  readonly check = async (name: string, work: () => Promise<string>): Promise<void> => {
    try {
      console.log(`ok: ${name}: ${await work()}`);
      this.passed += 1;
    } catch (error) {
      this.failed += 1;
      console.log(`FAILED: ${name}: ${error instanceof Error ? error.stack : String(error)}`);
      for (const { place, lines } of this.#members())
        console.log(`-- ${place.name}\n${lines.slice(-LINES_SHOWN).join('\n')}`);
    }
  };
}
