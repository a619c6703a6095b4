import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MutationBuffer } from '../src/txn/mutation-buffer.ts';
import { k, text } from './support/bench.ts';

const calls = ['put', 'insert', 'delete', 'lock', 'checkNotExists', 'assert'] as const;

/** Makes a call, and returns the code of its error, or undefined. */
function said(buffer: MutationBuffer, call: (typeof calls)[number], key: Uint8Array, at: number): unknown {
  try {
    if (call === 'put' || call === 'insert') buffer[call](key, k(`value ${at}`));
    else if (call === 'assert') buffer.assert(key, at % 2 === 0);
    else buffer[call](key);
    return undefined;
  } catch (error) {
    return (error as { code: string }).code;
  }
}

test('keys in order and out of it: the same mutations, reads and errors', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom(...calls), fc.integer({ min: 10, max: 30 })), { maxLength: 60 }),
      fc.boolean(),
      (asked, rising) => {
        const steps = rising ? asked.toSorted(([, left], [, right]) => left - right) : asked;
        const plain = new MutationBuffer();
        const hashed = new MutationBuffer(); // out of order from its second key on
        hashed.put(k('z'), k('last'));
        hashed.put(k('a'), k('first'));
        const seen = new Map<string, unknown>();
        for (const [at, [call, number]] of steps.entries()) {
          const key = k(`k${number}`);
          expect(said(plain, call, key, at)).toBe(said(hashed, call, key, at));
          expect(plain.read(key)).toEqual(hashed.read(key));
          seen.set(text(key)!, plain.read(key));
        }
        for (const [name, value] of seen) expect(plain.read(k(name))).toEqual(value);
        const names = plain.sorted().map(({ key }) => text(key)!);
        expect(names).toEqual([...new Set(names)].sort());
        expect(hashed.sorted().slice(1, -1)).toEqual(plain.sorted());
        expect(hashed.size).toBe(plain.size + 2);
        const bytes = plain.sorted().reduce((sum, { key, value }) => sum + key.length + value.length, 0);
        expect(plain.bytes).toBe(bytes);
        expect(hashed.bytes).toBe(bytes + 'zlast'.length + 'afirst'.length);
      },
    ),
  );
});

test('what is written last of a key stands, and its demand on the state before stays', () => {
  const buffer = new MutationBuffer();
  buffer.insert(k('b'), k('1'));
  buffer.put(k('d'), k('2'));
  buffer.delete(k('b'));
  buffer.put(k('a'), k('3'));
  buffer.put(k('b'), k('4'));
  buffer.delete(k('d'));
  expect(buffer.sorted().map(({ kind, key, value }) => [kind, text(key), text(value)])).toEqual([
    ['put', 'a', '3'],
    ['insert', 'b', '4'],
    ['delete', 'd', ''],
  ]);
});
