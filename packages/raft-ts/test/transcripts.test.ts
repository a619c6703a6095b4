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

describe('transcripts', () => {
  for (const path of globSync(`${directory}/*.txt`).sort()) {
    test(basename(path), async () => {
      const { before, after } = await replayFile(path, replay);
      expect(after).toBe(before);
    });
  }

  test('a transcript that is wrong is seen', async () => {
    await expect(replay('> fly 1\n')).rejects.toThrow('no command fly');
    expect(await replay('> group 1\nwrong\n> state\n')).toBe('> group 1\n> state\n1: begin\n');
  });
});
