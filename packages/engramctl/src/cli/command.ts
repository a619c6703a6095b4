import type { Flags, FlagSpec } from './flags.ts';
import type { OutputForm } from './global-flags.ts';

/** Where a command prints. Each resolves when there is room for more, and rejects with CtlError `input-output`. */
export interface Printer {
  out(text: string): Promise<void>;
  /** Notes for the operator, and progress: stderr. */
  note(text: string): Promise<void>;
}

export interface CommandRun {
  /** Those of the command and the global ones. */
  readonly flags: Flags;
  readonly args: readonly string[];
  readonly form: OutputForm;
  readonly printer: Printer;
  /** The password of a user who gave none. */
  readonly askPassword: () => Promise<string>;
  readonly nowMs: () => number;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Ends the work. */
  readonly signal: AbortSignal;
}

export interface Command {
  readonly name: string;
  /** Behind the name in the usage: "[flags] KEY". */
  readonly arguments: string;
  readonly group: 'cluster' | 'data' | 'utility';
  /** One line. */
  readonly short: string;
  readonly long: string;
  readonly flags: readonly FlagSpec[];
  readonly args: { readonly min: number; readonly max: number };
  /** What completion offers as arguments; `files` for paths. */
  readonly completes?: 'files' | readonly string[];
  /** Reads its arguments itself, the global flags not among them. */
  readonly ownArguments?: boolean;
  /** Resolves with the exit code. Rejects with CtlError and whatever its work throws. */
  readonly run: (run: CommandRun) => Promise<number>;
}
