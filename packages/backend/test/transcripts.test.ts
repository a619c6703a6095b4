import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { replayFile, replayTranscript } from '@engram/sim';
import { describe, expect, test } from 'vitest';
import { Interpreter } from './support/interpreter.ts';

const directory = join(import.meta.dirname, '../testdata');

function replay(text: string): Promise<string> {
  const interpreter = new Interpreter();
  return replayTranscript(text, (command) => interpreter.run(command));
}

describe('transcripts of the path of a write', () => {
  for (const path of globSync(`${directory}/*.txt`).sort()) {
    test(basename(path), async () => {
      const { before, after } = await replayFile(path, replay);
      expect(after).toBe(before);
    });
  }

  test('a transcript that is wrong is seen', async () => {
    await expect(replay('> fly 1\n')).rejects.toThrow('no command fly');
    expect(await replay('> open 1\nwrong\n')).toBe('> open 1\n1 is at revision 1, next position 1\n');
  });
});
