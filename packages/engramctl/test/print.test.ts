import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shownBytes, shownText, sizeText } from '../src/print/shown.ts';
import { tableText } from '../src/print/table.ts';

// Rows are of dustin/go-humanize's Bytes.
test.each([
  [0, '0 B'],
  [9, '9 B'],
  [10, '10 B'],
  [999, '999 B'],
  [1000, '1.0 kB'],
  [20_480, '20 kB'],
  [1_048_576, '1.0 MB'],
  [2_147_483_648, '2.1 GB'],
  [8_589_934_592, '8.6 GB'],
])('%i bytes are %s', (bytes, text) => expect(sizeText(bytes)).toBe(text));

test('whatever a key or a name is, it stays on its line and moves no cursor', () => {
  expect(shownText('a\x1b[2Jb\nc\\d\u202ee')).toBe('a\\u001b[2Jb\\u000ac\\\\d\\u202ee');
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 2000 }), fc.boolean(), (bytes, hex) => {
      const shown = shownBytes(bytes, hex);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: none of these may be in it
      expect(shown).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e]/);
      expect(shown.length).toBeLessThan(2100);
    }),
  );
});

test('a key that is no text, and any with --hex, is printed as etcdctl prints it', () => {
  expect(shownBytes(Uint8Array.of(0xff, 0x41), false)).toBe('\\xff\\x41');
  expect(shownBytes(Buffer.from('ab'), true)).toBe('\\x61\\x62');
  expect(shownBytes(Buffer.from('ä/b'), false)).toBe('ä/b');
  expect(shownBytes(Buffer.alloc(512, 'a'), true), 'whole').toMatch(/\\x61$/);
  expect(shownBytes(Buffer.alloc(513, 'a'), true), 'cut, and says so').toMatch(/\\x61\.\.\.$/);
});

test('a table has its numbers on the right', () => {
  expect(
    tableText(
      ['NAME', 'SIZE'],
      [
        ['a', '1.0 kB'],
        ['bcdef', '12 B'],
      ],
    ),
  ).toBe(`\
┌───────┬────────┐
│ NAME  │ SIZE   │
├───────┼────────┤
│ a     │ 1.0 kB │
│ bcdef │   12 B │
└───────┴────────┘
`);
});

test('a table may have a row for each namespace of a large store', () => {
  const rows = Array.from({ length: 200_000 }, (_, at) => [`namespace-${at}`, '1']);
  const lines = tableText(['NAMESPACE', 'KEYS'], rows).split('\n');
  expect([lines.length, new Set(lines.slice(0, -1).map(({ length }) => length)).size]).toEqual([200_005, 1]);
});
