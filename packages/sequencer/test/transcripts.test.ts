import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Interpreter } from './support/interpreter.ts';

// REWRITE=1 writes the current output of the commands into the files. Read the diff.
const rewrite = process.env['REWRITE'] === '1';
const directory = join(import.meta.dirname, '../testdata');

/**
 * The transcript with the current output of its commands. Lines that begin with `>` are commands, lines that begin with `#`
 * are comments, and all others are the output of the command before them.
 */
function replay(text: string): string {
  const interpreter = new Interpreter();
  const replayed: string[] = [];
  for (const line of text.trimEnd().split('\n')) {
    if (line === '' || line.startsWith('#') || line.startsWith('>')) replayed.push(line);
    if (line.startsWith('> ')) replayed.push(...interpreter.run(line.slice(2)));
  }
  return `${replayed.join('\n')}\n`;
}

describe('transcripts', () => {
  for (const path of globSync(`${directory}/*.txt`).sort()) {
    test(basename(path), () => {
      const before = readFileSync(path, 'utf8');
      const after = replay(before);
      if (rewrite) writeFileSync(path, after);
      else expect(after).toBe(before);
    });
  }

  test('a transcript that is wrong is seen', () => {
    expect(() => replay('> fly 1\n')).toThrow('no command fly');
    expect(replay('> position\nwrong\n')).toBe('> position\nposition 1\n');
  });
});
