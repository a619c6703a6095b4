import type { Command, CommandRun } from './cli/command.ts';
import { badArguments } from './cli/ctl-error.ts';
import { PROGRAM } from './cli/help.ts';
import { notesOf, progressOf } from './cli/notes.ts';

/** What the program `engram` makes of a command. The package is large, and the other commands do not need it. */
const engram = () => import('@engram/server');
type Configuration = Awaited<ReturnType<Awaited<ReturnType<typeof engram>>['readConfiguration']>>;
type Kind = 'restore' | 'migrate' | 'cut-over' | 'mirror';
type Of<Name extends Kind> = Extract<Configuration, { readonly kind: Name }>;

/** A command of `engram`, which takes the flags that it has there. */
interface EngramCommand<Name extends Kind> {
  readonly name: Name;
  readonly arguments: string;
  readonly short: string;
  /** What it does; what is the same for all stands behind it. */
  readonly long: string;
  readonly flagsOf: string;
  readonly completes?: Command['completes'];
  readonly work: (configured: Of<Name>, run: CommandRun) => Promise<number>;
}

function engramCommand<Name extends Kind>(of: EngramCommand<Name>): Command {
  const { name, arguments: args, short, flagsOf, completes, work } = of;
  const long = `${of.long}
It is \`engram ${name}\`, with its flags, which are ${flagsOf}: \`engram --help\` lists them.
Flags of ${PROGRAM} come before the command, and have no effect.`;
  const help = async ({ printer }: CommandRun): Promise<number> => {
    await printer.out(`${long}\n\nUsage:\n  ${PROGRAM} ${name} ${args}\n`);
    return 0;
  };
  return {
    name,
    arguments: args,
    group: 'cluster',
    short,
    long,
    flags: [],
    args: { min: 0, max: Number.POSITIVE_INFINITY },
    ...(completes === undefined ? {} : { completes }),
    ownArguments: true,
    run: async (run) => {
      if (run.args.some((argument) => HELP.has(argument))) return await help(run);
      const { readConfiguration } = await engram();
      const configuration = await readConfiguration([name, ...run.args], run.environment);
      if (isOf(configuration, name)) return await work(configuration, run);
      if (configuration.kind === 'usage') throw badArguments(configuration.problem);
      throw badArguments(`${name} does not take these flags`);
    },
  };
}

/** Go's flags are asked for help in these ways. */
const HELP: ReadonlySet<string> = new Set(['-h', '--h', '-help', '--help']);

const isOf = <Name extends Kind>(configuration: Configuration, name: Name): configuration is Of<Name> =>
  configuration.kind === name;

export const restoreCommand = engramCommand({
  name: 'restore',
  arguments: '[flags] SNAPSHOT',
  short: 'Makes a data directory from a snapshot, as `engram restore`',
  long: `Makes a data directory, or with --storage=tikv the store of a cluster, from a snapshot of etcd's or Engram's, or from the file
member/snap/db of a data directory of etcd's.`,
  flagsOf: 'those of etcdutl snapshot restore',
  completes: 'files',
  work: async ({ config }, { printer, signal }) => {
    const { restoreHere } = await engram();
    const logger = notesOf(printer);
    for (const warning of config.warnings) logger.warn({}, warning);
    await printer.out(await restoreHere(config, { logger, terminal: process.stderr, signal }));
    return 0;
  },
});

export const migrateCommand = engramCommand({
  name: 'migrate',
  arguments: '[flags]',
  short: 'Starts a node that follows a running etcd, as `engram migrate`',
  long: `Starts a node whose store follows the etcd at --from: founded from its snapshot, then each of its revisions becomes one here. It
takes no writes before the cut-over, and serves behind it, until it is stopped.`,
  flagsOf: 'those of a member',
  // Ends with the process.
  work: async ({ config, from }, { args }) => {
    const { runMigration } = await engram();
    await runMigration(config, from, ['migrate', ...args]);
    return 0;
  },
});

export const cutOverCommand = engramCommand({
  name: 'cut-over',
  arguments: '[flags]',
  short: 'Lets the node that follows an etcd take writes, as `engram cut-over`',
  long: `Ends the following, and lets the store of this machine's node with this --data-dir take writes. Refused while it is behind.`,
  flagsOf: 'those of a member',
  work: async ({ config: { dataDir } }, { printer }) => {
    const { askForCutOver } = await engram();
    const { done, text } = await askForCutOver(dataDir);
    await (done ? printer.out(`${text}\n`) : printer.note(`Error: ${text}\n`));
    return done ? 0 : 1;
  },
});

export const mirrorCommand = engramCommand({
  name: 'mirror',
  arguments: '[flags]',
  short: 'Writes each revision of a store into an etcd, as `engram mirror`',
  long: `Writes each revision of the store at --from into the etcd at --to, which was restored from its snapshot, with the same revision.
Started again it goes on. The first difference ends it.`,
  flagsOf: '--from, --to, and those of their connections',
  work: async ({ config }, { printer, signal }) => {
    const { mirror } = await engram();
    await printer.out(await mirror(config, { logger: progressOf(printer), signal }));
    return 0;
  },
});
