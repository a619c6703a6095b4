/** One change of a source, which must occur there exactly once. */
export interface Edit {
  /** From the project's root. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

/** A defect put in by hand: the simulator must find it, or a test where no run of the simulator can show it. */
export interface Mutant {
  readonly name: string;
  /** What goes wrong with it, in one line. */
  readonly what: string;
  readonly edits: readonly Edit[];
  /** The scenario that shows it, which all scenarios of the search are: others hardly do. See README.md. */
  readonly scenario?: string;
  /**
   * The test that finds it, from the project's root, and why no run of the simulator does. RUNS: a test of random runs does so many.
   * Undefined: seeds find it.
   */
  readonly test?: { readonly file: string; readonly why: string; readonly env?: { readonly RUNS: string } };
  /** It is found by the small games in every order of their requests (`make schedules`), and why by no run of the simulator. */
  readonly schedules?: { readonly why: string };
}

/** The source with the edits made. Throws where one does not fit it any more. */
export function applyEdits(source: string, edits: readonly Edit[]): string {
  let edited = source;
  for (const { file, find, replace } of edits) {
    const parts = edited.split(find);
    if (parts.length !== 2) throw new Error(`${file}: found ${parts.length - 1} times: ${find}`);
    edited = parts.join(replace);
  }
  return edited;
}
