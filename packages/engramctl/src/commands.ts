import { checkCommand } from './check/check-command.ts';
import type { Command } from './cli/command.ts';
import { completionScript, shells } from './cli/completion.ts';
import { optionsText, PROGRAM } from './cli/help.ts';
import { diffCommand } from './compare/diff-command.ts';
import { historyCommand } from './compare/history-command.ts';
import { inspectCommand } from './inspect/inspect-command.ts';
import { cutOverCommand, migrateCommand, mirrorCommand, restoreCommand } from './engram-commands.ts';
import { API_VERSION, ENGRAMCTL_VERSION } from './version.ts';

const completionCommand: Command = {
  name: 'completion',
  arguments: `[${shells.join('|')}]`,
  group: 'utility',
  short: 'Generate completion script',
  long: `To load completions:

bash:
  $ source <(${PROGRAM} completion bash)
  # for each session, once:
  $ ${PROGRAM} completion bash > /etc/bash_completion.d/${PROGRAM}

zsh:
  $ ${PROGRAM} completion zsh > "\${fpath[1]}/_${PROGRAM}"

fish:
  $ ${PROGRAM} completion fish | source
  # for each session, once:
  $ ${PROGRAM} completion fish > ~/.config/fish/completions/${PROGRAM}.fish`,
  flags: [],
  args: { min: 1, max: 1 },
  completes: shells,
  run: async ({ args, printer }) => {
    await printer.out(completionScript(args[0]!, commands));
    return 0;
  },
};

const optionsCommand: Command = {
  name: 'options',
  arguments: '',
  group: 'utility',
  short: 'Show the global command-line flags',
  long: 'Show the global command-line flags',
  flags: [],
  args: { min: 0, max: 0 },
  run: async ({ printer }) => {
    await printer.out(optionsText());
    return 0;
  },
};

const versionCommand: Command = {
  name: 'version',
  arguments: '',
  group: 'utility',
  short: `Prints the version of ${PROGRAM}`,
  long: `Prints the version of ${PROGRAM}`,
  flags: [],
  args: { min: 0, max: 0 },
  run: async ({ printer }) => {
    await printer.out(`${PROGRAM} version: ${ENGRAMCTL_VERSION}\nAPI version: ${API_VERSION}\n`);
    return 0;
  },
};

/** All commands, by group in the order of the help. */
export const commands: readonly Command[] = [
  inspectCommand,
  diffCommand,
  historyCommand,
  checkCommand,
  restoreCommand,
  migrateCommand,
  cutOverCommand,
  mirrorCommand,
  completionCommand,
  optionsCommand,
  versionCommand,
];
