import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { epoch } from '@engram/core';
import { replayFile, replayTranscript } from '@engram/sim';
import { describe, expect, test } from 'vitest';
import { type Stage, type TransitionEffect, type TransitionInput, Transitions } from '../src/transitions.ts';

const directory = join(import.meta.dirname, '../testdata');

const withEpoch: ReadonlySet<string> = new Set(['lead', 'step-down', 'fenced', 'superseded']);
const without: ReadonlySet<string> = new Set(['sealed', 'led', 'refused', 'ended', 'failed', 'close']);

function inputOf(line: string): TransitionInput {
  const [kind = '', number] = line.split(' ');
  if (withEpoch.has(kind) && number !== undefined) {
    return { kind: kind as 'lead', epoch: epoch(Number(number)) };
  }
  if (without.has(kind) && number === undefined) return { kind: kind as 'sealed' };
  throw new Error(`no input ${line}`);
}

const stageText = (stage: Stage): string => (stage.at === 'following' ? stage.at : `${stage.at} ${stage.epoch}`);

function effectText(effect: TransitionEffect): string {
  const epochText = 'epoch' in effect ? ` ${effect.epoch}` : '';
  return `  ${effect.kind}${epochText}${'why' in effect ? ` (${effect.why})` : ''}`;
}

/** The output of an input is the stage after it, and its effects. */
function replay(text: string): Promise<string> {
  const transitions = new Transitions();
  return replayTranscript(text, (input) => {
    try {
      const effects = transitions.offer(inputOf(input));
      return [stageText(transitions.stage), ...effects.map(effectText)];
    } catch (error) {
      return [String(error)];
    }
  });
}

describe('transcripts of the transitions', () => {
  for (const path of globSync(`${directory}/*.txt`).sort()) {
    test(basename(path), async () => {
      const { before, after } = await replayFile(path, replay);
      expect(after).toBe(before);
    });
  }

  test('a transcript that is wrong is seen', async () => {
    expect(await replay('> fly 1\n')).toContain('no input fly 1');
    expect(await replay('> lead 2\nleading 2\n')).toBe('> lead 2\nsealing 2\n  take-over 2\n');
  });
});

test('whatever the order of inputs, one transition is under way, and each epoch asked for is resigned or led', () => {
  const seed = Number(process.env['SEED'] ?? 1 + Math.floor(Date.now() % 1_000_000));
  let state = seed;
  const below = (bound: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
  for (let run = 0; run < 500; run += 1) {
    const transitions = new Transitions();
    /** What is under way: the outcome that is due for it. */
    let underWay: 'take-over' | 'end' | undefined;
    let asked: number | undefined;
    let newest = 0;
    const take = (input: TransitionInput): void => {
      for (const effect of transitions.offer(input)) {
        const at = `SEED=${seed} run ${run} ${input.kind} ${effect.kind}`;
        if (effect.kind === 'take-over' || effect.kind === 'end') {
          expect(underWay, at).toBe(undefined);
          underWay = effect.kind;
        }
        if (effect.kind === 'follow') expect(transitions.stage.at === 'leading', at).toBe(false);
        if (effect.kind === 'resign' && effect.epoch === asked) asked = undefined;
        if (effect.kind === 'announce') expect(effect.epoch, at).toBe(asked);
      }
    };
    for (let step = 0; step < 60; step += 1) {
      const choice = below(6);
      if (choice === 0 && asked === undefined) {
        newest += 1;
        asked = newest;
        take({ kind: 'lead', epoch: epoch(newest) });
      } else if (choice === 1 && asked !== undefined) {
        take({ kind: 'step-down', epoch: epoch(asked) });
      } else if (choice === 2 && newest > 0) {
        take({ kind: below(2) === 0 ? 'fenced' : 'superseded', epoch: epoch(newest) });
      } else if (choice > 2 && underWay === 'end') {
        underWay = undefined;
        take({ kind: 'ended' });
      } else if (choice > 2 && underWay === 'take-over') {
        const { stage } = transitions;
        if (below(4) === 0) {
          underWay = undefined;
          take({ kind: 'refused' });
        } else if (stage.at === 'sealing') {
          take({ kind: 'sealed' });
        } else {
          underWay = undefined;
          take({ kind: 'led' });
        }
      }
    }
    while (underWay !== undefined) {
      const ended = underWay === 'end';
      underWay = undefined;
      take({ kind: ended ? 'ended' : 'refused' });
    }
    const { stage } = transitions;
    expect(stage.at, `SEED=${seed} run ${run}`).toBe(asked === undefined ? 'following' : 'leading');
  }
});
