import type { Command, Printer } from './cli/command.ts';
import { badArguments, CtlError, exitCodes, messageOf } from './cli/ctl-error.ts';
import { Flags, type FlagSpec } from './cli/flags.ts';
import { debugText, globalFlags, type OutputForm, outputForms, takeEnvironment } from './cli/global-flags.ts';
import { commandHelp, PROGRAM, programHelp } from './cli/help.ts';
import { commands } from './commands.ts';

const HELP: FlagSpec = { name: 'help', shorthand: 'h', kind: 'bool', value: 'false', help: 'help' };

export interface ProgramParts {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly printer: Printer;
  readonly askPassword: () => Promise<string>;
  /** Wall-clock time in milliseconds since 1970, for what ends at a date. */
  readonly nowMs: () => number;
  /** Ends the work: its reason is what is said. */
  readonly signal: AbortSignal;
}

/** Runs one command. Resolves with the exit code; what is wrong has been printed. Never rejects. */
export async function runProgram(args: readonly string[], parts: ProgramParts): Promise<number> {
  const { printer, signal } = parts;
  try {
    return await run(args, parts);
  } catch (error) {
    if (signal.aborted) {
      await printer.note(`Error: ${messageOf(signal.reason)}\n`);
      return exitCodes.interrupted;
    }
    if (messageOf(error) !== '') await printer.note(`Error: ${messageOf(error)}\n`);
    if (!(error instanceof CtlError)) return exitCodes.failed;
    if (error.fault === 'bad-arguments') await printer.note(`Run '${PROGRAM} --help' for usage.\n`);
    return error.exitCode;
  }
}

async function run(args: readonly string[], parts: ProgramParts): Promise<number> {
  const { environment, printer, askPassword, nowMs, signal } = parts;
  const before = new Flags([...globalFlags, HELP]);
  const [name, ...behind] = before.parse(args, { untilArgument: true });
  if (name === undefined || (name === 'help' && behind.length === 0)) {
    await printer.out(programHelp(commands));
    return 0;
  }
  const command = commandNamed(name === 'help' ? behind[0]! : name);
  if (name === 'help' || before.bool('help')) {
    await printer.out(commandHelp(command));
    return 0;
  }
  const ahead = args.slice(0, args.length - behind.length - 1);
  const flags = new Flags([...command.flags, ...globalFlags, HELP]);
  const own = command.ownArguments === true;
  const rest = flags.parse(own ? ahead : [...ahead, ...behind]);
  if (flags.bool('help')) {
    await printer.out(commandHelp(command));
    return 0;
  }
  for (const warning of takeEnvironment(environment, flags)) await printer.note(`Warning: ${warning}\n`);
  if (flags.bool('debug')) await printer.note(debugText(flags));
  checkArguments(command, own ? behind : rest);
  return await command.run({
    flags,
    args: own ? behind : rest,
    form: formOf(flags),
    printer,
    askPassword,
    nowMs,
    environment,
    signal,
  });
}

/** A command, or the only one that begins so, as in etcdctl. */
function commandNamed(name: string): Command {
  const exact = commands.find((each) => each.name === name);
  if (exact !== undefined) return exact;
  const [only, second] = commands.filter((each) => each.name.startsWith(name));
  if (only === undefined || second !== undefined || name === '') {
    throw badArguments(`unknown command ${JSON.stringify(name)} for "${PROGRAM}"`);
  }
  return only;
}

function checkArguments({ name, args: { min, max } }: Command, given: readonly string[]): void {
  if (given.length >= min && given.length <= max) return;
  if (max === 0) throw badArguments(`unknown command ${JSON.stringify(given[0])} for "${PROGRAM} ${name}"`);
  const wanted = min === max ? `accepts ${min} arg(s)` : `accepts between ${min} and ${max} arg(s)`;
  throw badArguments(`${wanted}, received ${given.length}`);
}

function formOf(flags: Flags): OutputForm {
  if (flags.changed('output') && flags.changed('write-out') && flags.text('output') !== flags.text('write-out')) {
    throw badArguments('--output and --write-out say different things');
  }
  const wanted = flags.text('output') || flags.text('write-out');
  const form = outputForms.find((each) => each === wanted);
  if (form === undefined) throw new CtlError('bad-feature', 'unsupported output format');
  return form;
}
