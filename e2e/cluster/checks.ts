import type { MemberProcess } from './cluster-member.ts';

/** Of each member, where a check fails. */
const LINES_SHOWN = 12;

/** Checks one after another: each prints a line, and where it fails the last ones of all members. */
export class Checks {
  readonly #members: () => readonly MemberProcess[];
  passed = 0;
  failed = 0;

  constructor(members: () => readonly MemberProcess[]) {
    this.#members = members;
  }

  /** `work` returns what is to be said of it. */
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
