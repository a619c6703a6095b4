import { type Tool, toolOutput } from './tool.ts';

/** A command that a program's help names, without those that only group others. */
export interface Command {
  /** As it is typed: "lease grant". */
  readonly words: string;
  /** Its own flags, without dashes. Those of every command are not among them. */
  readonly flags: readonly string[];
}

/** Every command of the program, by its own help and that of each command that has others below it. */
export async function commandsOf(tool: Tool, above: readonly string[] = []): Promise<readonly Command[]> {
  const help = await toolOutput(tool, [...above, '--help']);
  const below = namesIn(help);
  if (below.length > 0) return (await Promise.all(below.map((name) => commandsOf(tool, [...above, name])))).flat();
  return [{ words: above.join(' '), flags: flagsIn(help) }];
}

/** The first words of the lines below "Available Commands:", or below the title of a group, such as "Key-value commands". */
function namesIn(help: string): readonly string[] {
  const blocks = help.matchAll(/^(?:Available Commands:|[\w -]+ commands)\n((?: {2}\S.*\n)+)/gm);
  return [...blocks].flatMap(([, lines = '']) => [...lines.matchAll(/^ {2}(\S+)/gm)].map(([, name = '']) => name));
}

function flagsIn(help: string): readonly string[] {
  const [, block = ''] = /^Flags:\n((?:\s+-.*\n)+)/m.exec(help) ?? [];
  const names = [...block.matchAll(/^ +(?:-\w, )?--([\w-]+)/gm)].map(([, name = '']) => name);
  return [...new Set(names)].filter((name) => name !== 'help');
}
