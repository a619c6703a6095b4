import type { Command } from './command.ts';
import type { Flags, FlagSpec } from './flags.ts';
import { globalFlags } from './global-flags.ts';

export const PROGRAM = 'engramctl';
const DESCRIPTION = "The operator's tool of Engram, for any store that speaks etcd v3.";
const GROUPS: readonly (readonly [group: Command['group'], title: string])[] = [
  ['data', 'Key-value commands'],
  ['cluster', 'Cluster maintenance commands'],
  ['utility', 'Utility commands'],
];
const OPTIONS = `Use "${PROGRAM} options" for a list of global command-line options (applies to all commands).\n`;

/** The help of the program, in the form of etcdctl's. */
export function programHelp(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  const groups = GROUPS.map(([group, title]) => {
    const lines = commands
      .filter((command) => command.group === group)
      .map(({ name, short }) => `  ${name.padEnd(width)}  ${short}\n`);
    return `${title}\n${lines.join('')}`;
  });
  return [
    `${DESCRIPTION}\n`,
    `Usage:\n  ${PROGRAM} [command]\n`,
    ...groups,
    `Use "${PROGRAM} [command] --help" for more information about a command.\n${OPTIONS}`,
  ].join('\n');
}

export function commandHelp({ name, long, flags, arguments: args }: Command): string {
  const own = flags.length === 0 ? [] : [`Options:\n${flagsText(flags)}`];
  const usage = `Usage:\n  ${PROGRAM} ${name} ${args}`.trimEnd();
  return [`${long}\n`, `${usage}\n`, ...own, OPTIONS].join('\n');
}

export const optionsText = (): string =>
  `The following options can be passed to any command:\n\n${flagsText(globalFlags)}`;

/** As spf13/pflag's FlagUsages: names, kinds, help, and the default if it is not the empty value. */
export function flagsText(flags: Flags['specs']): string {
  const heads = flags.map(headOf);
  const width = Math.max(...heads.map(({ length }) => length));
  return flags.map((spec, at) => `${heads[at]!.padEnd(width)}   ${spec.help}${defaultOf(spec)}\n`).join('');
}

function headOf({ name, shorthand, kind }: FlagSpec): string {
  const short = shorthand === undefined ? '      ' : `  -${shorthand}, `;
  return `${short}--${name}${kind === 'bool' ? '' : ` ${kind}`}`;
}

function defaultOf({ kind, value }: FlagSpec): string {
  if (['', 'false', '0'].includes(value)) return '';
  if (kind === 'string') return ` (default ${JSON.stringify(value)})`;
  return ` (default ${kind === 'strings' ? `[${value}]` : value})`;
}
