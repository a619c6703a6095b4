import { Prng } from '@engram/sim';
import { expect, test } from 'vitest';
import { Interpreter } from './support/interpreter.ts';

/*
 * Random decisions that give way at each question, each given up at its first yield, then at its second, and so on, until it
 * ends before. What is left must be what was there before, and the decision must then be that of a sequencer on which nothing
 * was given up. Some are refused by themselves, so they are also given up while they are undone.
 */

const SEED = Number(process.env['SEED'] ?? Date.now() % 2 ** 31);
const RUNS = Number(process.env['RUNS'] ?? 60);
const TXNS = 12;

/** No transaction both puts and deletes a key. */
const PUT_KEYS = ['a', 'b', 'c', 'd'];
const DELETED_KEYS = ['e', 'f', 'g', 'h'];

function drawOps(prng: Prng, keys: readonly string[], depth: number): string {
  const left = [...keys];
  const ops: string[] = [];
  for (let count = 1 + prng.below(4); count > 0; count -= 1) {
    const dice = prng.below(10);
    if (dice < 2) ops.push(`range a..${prng.chance(0.2) ? ' at 2' : ''}`);
    else if (dice < 4) ops.push(`delete ${prng.pick([...DELETED_KEYS, 'e..i'])}${prng.chance(0.3) ? ' prev' : ''}`);
    else if (left.length > 0 && dice < 8) {
      const kept = ['lease 7', 'ignore-value', 'prev'].filter(() => prng.chance(0.3)).join(' ');
      ops.push(`put ${left.shift()} v${prng.below(5)} ${kept}`);
    } else if (left.length > 0 && depth > 0) {
      ops.push(`(${drawTxn(prng, left.splice(0, Math.ceil(left.length / 2)), depth - 1)})`);
    }
  }
  return ops.length === 0 ? 'range a..' : ops.join('; ');
}

function drawTxn(prng: Prng, keys: readonly string[], depth: number): string {
  if (prng.chance(0.5)) return drawOps(prng, keys, depth);
  const key = prng.pick(PUT_KEYS);
  const compare = prng.pick([`version ${key} > 0`, `value ${key}..i != v1`, 'mod a.. < 9', `lease ${key} = 7`]);
  return `if ${compare} then ${drawOps(prng, keys, depth)} else ${drawOps(prng, keys, depth)}`;
}

const revive = (prng: Prng): string =>
  DELETED_KEYS.filter(() => prng.chance(0.6))
    .map((key) => `put ${key} v`)
    .join('; ') || 'range a..';

const givesWay = ([told = '']: readonly string[]): boolean => told === 'gives way' || told.startsWith('waits');

function toEnd(sequencer: Interpreter, first: readonly string[]): readonly string[] {
  let told = first;
  while (givesWay(told)) told = sequencer.run('step');
  return told;
}

/** Begins the decision and gives it up at this yield. Unless it has ended before: then `told` is its end. */
function giveUpAt(sequencer: Interpreter, text: string, at: number): { gaveUp: boolean; told: readonly string[] } {
  let told = sequencer.run(`begin ${text}`);
  for (let yields = 0; givesWay(told) && yields < at; yields += 1) told = sequencer.run('step');
  if (!givesWay(told)) return { gaveUp: false, told };
  return { gaveUp: true, told: toEnd(sequencer, sequencer.run('give-up Timeout')) };
}

test(`a decision that is given up at any of its yields leaves no trace (SEED=${SEED})`, () => {
  let [gaveUp, whileUndone] = [0, 0];
  for (let run = 0; run < RUNS; run += 1) {
    const prng = new Prng(SEED + run);
    const [tried, smooth] = [new Interpreter('by a job'), new Interpreter('by a job')];
    const both = (command: string): void => void [tried, smooth].map((sequencer) => sequencer.run(command));
    both(`store changes=${prng.pick([3, 6, 1000])} answer=${prng.pick([100, 300, 100_000])}`);
    both('lease 7');
    both('slice 0');
    for (let count = 0; count < TXNS; count += 1) {
      // In parentheses: a simple one would be decided in a call.
      const text = `(${prng.chance(0.3) ? revive(prng) : drawTxn(prng, PUT_KEYS, 3)})`;
      if (prng.chance(0.3)) both(`cold ${1 + prng.below(10)} ${1 + prng.below(10)}`);
      const before = tried.run('state');
      const where = `SEED=${SEED + run} RUNS=1: ${text}`;
      let attempt = giveUpAt(tried, text, 0);
      for (let at = 1; attempt.gaveUp; at += 1) {
        expect(attempt.told.length, `${where}: ${attempt.told.join()}`).toBe(1);
        expect(attempt.told[0], where).toMatch(/^refused: (Timeout|ResponseTooLarge)$/);
        expect(tried.run('state'), where).toEqual(before);
        gaveUp += 1;
        if (attempt.told[0] !== 'refused: Timeout') whileUndone += 1;
        attempt = giveUpAt(tried, text, at);
      }
      expect(attempt.told, where).toEqual(toEnd(smooth, smooth.run(`begin ${text}`)));
      expect(tried.run('state'), where).toEqual(smooth.run('state'));
    }
  }
  if (RUNS < 60) return;
  expect(gaveUp).toBeGreaterThan(RUNS * 10);
  expect(whileUndone).toBeGreaterThan(RUNS / 10);
});
