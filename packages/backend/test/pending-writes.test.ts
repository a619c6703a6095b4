import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type PendingWrite, PendingWrites, type WriteEnd } from '../src/answer/pending-writes.ts';

const nothing = (): void => undefined;
const nothingWritten = { mark: undefined, group: undefined, origin: undefined };
const end: WriteEnd = { answer: nothing, reject: nothing, pin: undefined };

test('the oldest is the first that has not ended, in whatever order they end', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), fc.nat()), { maxLength: 1_500 }), (steps) => {
      const writes = new PendingWrites();
      const model: PendingWrite[] = [];
      for (const [adds, pick] of steps) {
        if (adds || model.length === 0) model.push(writes.add(nothingWritten, model.length, end));
        else model.splice(pick % model.length, 1)[0]!.settle();
        expect(writes.oldest()).toBe(model[0]);
      }
    }),
  );
});

test('a write has one end', () => {
  const writes = new PendingWrites();
  const ends: string[] = [];
  const write = writes.add(nothingWritten, 0, {
    answer: () => ends.push('answered'),
    reject: () => ends.push('failed'),
    pin: { [Symbol.dispose]: () => ends.push('unpinned') },
  });
  write.fail(new Error('too late'));
  write.settle();
  write.fail(new Error('again'));
  expect(ends).toEqual(['unpinned', 'failed']);
});
