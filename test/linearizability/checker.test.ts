import { expect, test } from 'vitest';
import { isLinearizable, type Operation } from './checker.ts';
import { type KeyInput, type KeyOutput, keyModel } from './key-model.ts';

type Call = Operation<KeyInput, KeyOutput>;

const get = (invoked: number, returned: number, value: string, mod: number): Call => ({
  input: { kind: 'get' },
  output: { kind: 'read', state: { mod, value } },
  invoked,
  returned,
});
const put = (invoked: number, returned: number, value: string, revision: number): Call => ({
  input: { kind: 'put', value },
  output: { kind: 'written', revision },
  invoked,
  returned,
});
const lostPut = (invoked: number, value: string): Call => ({
  input: { kind: 'put', value },
  output: undefined,
  invoked,
  returned: Number.POSITIVE_INFINITY,
});
const swap = (invoked: number, returned: number, expected: number, value: string, revision: number): Call => ({
  input: { kind: 'swap', expected, value },
  output: { kind: 'written', revision },
  invoked,
  returned,
});
const remove = (invoked: number, returned: number, found: boolean, revision: number): Call => ({
  input: { kind: 'delete' },
  output: { kind: 'deleted', found, revision },
  invoked,
  returned,
});

test.each([
  { why: 'nothing happened', history: [], holds: true },
  { why: 'a write, then its read', history: [put(1, 2, 'a', 2), get(3, 4, 'a', 2)], holds: true },
  {
    why: 'a read of what was overwritten before it began',
    history: [put(1, 2, 'a', 2), put(3, 4, 'b', 3), get(5, 6, 'a', 2)],
    holds: false,
  },
  {
    why: 'a read while it is being overwritten sees either',
    history: [put(1, 2, 'a', 2), put(3, 6, 'b', 3), get(4, 5, 'a', 2)],
    holds: true,
  },
  {
    why: 'two reads, one after the other, that see the new value and then the old one',
    history: [put(1, 2, 'a', 2), put(3, 8, 'b', 3), get(4, 5, 'b', 3), get(6, 7, 'a', 2)],
    holds: false,
  },
  { why: 'an acknowledged write that is gone', history: [put(1, 2, 'a', 2), get(3, 4, '', 0)], holds: false },
  { why: 'a lost write that is seen', history: [lostPut(1, 'a'), get(3, 4, 'a', 2)], holds: true },
  { why: 'a lost write that never happened', history: [lostPut(1, 'a'), get(3, 4, '', 0)], holds: true },
  {
    why: 'a lost write that happens late',
    history: [lostPut(1, 'a'), get(2, 3, '', 0), get(4, 5, 'a', 2)],
    holds: true,
  },
  {
    why: 'a lost write that comes and goes',
    history: [lostPut(1, 'a'), get(2, 3, 'a', 2), get(4, 5, '', 0)],
    holds: false,
  },
  {
    why: 'a lost write that is there under two revisions',
    history: [lostPut(1, 'a'), get(2, 3, 'a', 2), get(4, 5, 'a', 3)],
    holds: false,
  },
  {
    why: 'two swaps from one revision',
    history: [put(1, 2, 'a', 2), swap(3, 6, 2, 'b', 3), swap(4, 5, 2, 'c', 4)],
    holds: false,
  },
  {
    why: 'swaps that follow each other',
    history: [put(1, 2, 'a', 2), swap(3, 6, 2, 'b', 3), swap(4, 7, 3, 'c', 4)],
    holds: true,
  },
  { why: 'a deletion of nothing that was there', history: [put(1, 2, 'a', 2), remove(3, 4, false, 2)], holds: false },
  {
    why: 'a deletion, and a read of nothing',
    history: [put(1, 2, 'a', 2), remove(3, 4, true, 3), get(5, 6, '', 0)],
    holds: true,
  },
  { why: 'a revision that goes back', history: [put(1, 2, 'a', 5), put(3, 4, 'b', 4)], holds: false },
])('$why: $holds', ({ history, holds }) => {
  expect(isLinearizable(keyModel, history)).toBe(holds);
});

test('many concurrent calls are checked in bounded time', () => {
  const history: Call[] = [];
  for (let at = 0; at < 300; at += 1) history.push(put(at * 10, at * 10 + 55, `v${at}`, at + 2));
  expect(isLinearizable(keyModel, history)).toBe(true);
  history.push(get(4000, 4001, 'v0', 2));
  expect(isLinearizable(keyModel, history)).toBe(false);
});
