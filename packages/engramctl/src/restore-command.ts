import { badArguments } from './cli/ctl-error.ts';
import type { Command, CommandRun } from './cli/command.ts';
import { PROGRAM } from './cli/help.ts';
import { notesOf } from './cli/notes.ts';

export const restoreCommand: Command = {
  name: 'restore',
  arguments: '[flags] SNAPSHOT',
  group: 'cluster',
  short: 'Makes a data directory from a snapshot, as `engram restore`',
  long: `Makes a data directory, or with --storage=tikv the store of a cluster, from a snapshot of etcd's or Engram's, or from the file
member/snap/db of a data directory of etcd's. It is
\`engram restore\`, with its flags, which are those of etcdutl snapshot restore: \`engram --help\` lists them. Flags of ${PROGRAM}
come before the command, and have no effect.`,
  flags: [],
  args: { min: 0, max: Number.POSITIVE_INFINITY },
  completes: 'files',
  ownArguments: true,
  run: restore,
};

async function restore({ args, printer, signal }: CommandRun): Promise<number> {
  const { readConfiguration, restoreHere } = await import('@engram/server');
  const configuration = await readConfiguration(['restore', ...args], {});
  switch (configuration.kind) {
    case 'restore': {
      const { config } = configuration;
      const logger = notesOf(printer);
      for (const warning of config.warnings) logger.warn({}, warning);
      await printer.out(await restoreHere(config, { logger, terminal: process.stderr, signal }));
      return 0;
    }
    case 'help':
      await printer.out(`${restoreCommand.long}\n\nUsage:\n  ${PROGRAM} restore ${restoreCommand.arguments}\n`);
      return 0;
    case 'usage':
      throw badArguments(configuration.problem);
    default:
      throw badArguments('restore takes a snapshot');
  }
}
