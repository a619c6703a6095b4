import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { replayFile, replayTranscript } from '@engram/sim';
import { describe, expect, test } from 'vitest';
import { Interpreter, type SimpleWay } from './support/interpreter.ts';

const directory = join(import.meta.dirname, '../testdata');

const replay =
  (simpleWay: SimpleWay) =>
  (text: string): Promise<string> => {
    const interpreter = new Interpreter(simpleWay);
    return replayTranscript(text, (command) => interpreter.run(command));
  };

describe.each<SimpleWay>(['in a call', 'by a job'])('transcripts, simple transactions decided %s', (way) => {
  for (const path of globSync(`${directory}/*.txt`).sort()) {
    test(basename(path), async () => {
      const { before, after } = await replayFile(path, replay(way));
      expect(after).toBe(before);
    });
  }

  test('a transcript that is wrong is seen', async () => {
    await expect(replay(way)('> fly 1\n')).rejects.toThrow('no command fly');
    expect(await replay(way)('> position\nwrong\n')).toBe('> position\nposition 1\n');
  });
});
