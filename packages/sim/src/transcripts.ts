import { readFileSync, writeFileSync } from 'node:fs';

/** What the tests of a transcript compare: the file, and what a replay of its commands gives. */
export interface Replayed {
  readonly before: string;
  readonly after: string;
}

/**
 * The transcript with the current output of its commands. Lines that begin with `>` are commands, lines that begin with `#`
 * are comments, and all others are the output of the command before them.
 */
export async function replayTranscript(
  text: string,
  run: (command: string) => readonly string[] | Promise<readonly string[]>,
): Promise<string> {
  const replayed: string[] = [];
  for (const line of text.trimEnd().split('\n')) {
    if (line === '' || line.startsWith('#') || line.startsWith('>')) replayed.push(line);
    if (line.startsWith('> ')) replayed.push(...(await run(line.slice(2))));
  }
  return `${replayed.join('\n')}\n`;
}

/** Replays a file. REWRITE=1 in the environment writes the current output into the file: read the diff. */
export async function replayFile(path: string, replay: (text: string) => Promise<string>): Promise<Replayed> {
  const before = readFileSync(path, 'utf8');
  const after = await replay(before);
  if (process.env['REWRITE'] !== '1') return { before, after };
  writeFileSync(path, after);
  return { before: after, after };
}
