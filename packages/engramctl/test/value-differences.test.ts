import fc from 'fast-check';
import { expect, test } from 'vitest';
import { utf8 } from '@engram/core';
import { valueDifferences } from '../src/compare/value-differences.ts';
import { kubeProtobuf } from './support/kube.ts';

const NEST = 100_000;

test.each<readonly [before: string, after: string, lines: readonly string[]]>([
  ['same', 'same', []],
  ['old', 'new', ['"old" -> "new"']],
  ['', 'x', ['"" -> "x"']],
  ['{"a":1,"b":2}', '{"a":1,"b":3}', ['b: 2 -> 3']],
  ['{"a":{"b":[1,{"c":"x"}]}}', '{"a":{"b":[1,{"c":"y"}]}}', ['a.b[1].c: "x" -> "y"']],
  ['{"a":1}', '{"b":1}', ['a: 1 -> (none)', 'b: (none) -> 1']],
  ['{"a":[1,2]}', '{"a":[1]}', ['a[1]: 2 -> (none)']],
  ['{"a":{"b":1}}', '{"a":[1]}', ['a: {1 fields} -> [1 items]']],
  ['{"a":null}', '{"a":{}}', ['a: null -> {0 fields}']],
  ['{"x.y/z":1}', '{"x.y/z":2}', ['["x.y/z"]: 1 -> 2']],
  ['{"__proto__":1}', '{"__proto__":2}', ['__proto__: 1 -> 2']],
  ['[1]', '[2]', ['[0]: 1 -> 2']],
  ['{"a":1}', '{ "a":1}', ['other: 7 B -> 8 B, different from byte 1 on']],
  ['{"a":"\\u001b[2J"}', '{"a":""}', ['a: "\\\\u001b[2J" -> ""']],
])('%j -> %j', (before, after, lines) => {
  expect(valueDifferences(utf8(before), utf8(after))).toEqual(lines);
});

test('of protobuf the sizes and the place are told, and a change of the form', () => {
  const before = kubeProtobuf({ spec: 'a' });
  expect(valueDifferences(before, kubeProtobuf({ spec: 'bcd' }))).toEqual([
    expect.stringMatching(/^protobuf: \d+ B -> \d+ B, different from byte \d+ on$/),
  ]);
  expect(valueDifferences(before, utf8('k8s:enc:aescbc:v1:key1:\0'))[0]).toMatch(/^protobuf -> encrypted: /);
});

test('a hundred lines are shown and no more', () => {
  const many = (value: number): Uint8Array => utf8(JSON.stringify(Array.from({ length: 5000 }, () => value)));
  expect(valueDifferences(many(1), many(2))).toHaveLength(101);
});

test('values that nest as deep as they are long end in one line', () => {
  const deep = (leaf: number): Uint8Array => utf8(`${'['.repeat(NEST)}${leaf}${']'.repeat(NEST)}`);
  expect(valueDifferences(deep(1), deep(2)).length).toBe(1);
});

test('any two values have differences of a bounded size, none if they are the same', () => {
  const values = fc.oneof(fc.uint8Array(), fc.json().map(utf8));
  fc.assert(
    fc.property(values, values, (before, after) => {
      const lines = valueDifferences(before, after);
      expect(lines.length === 0).toBe(Buffer.compare(before, after) === 0);
      for (const line of lines) expect(line.length).toBeLessThan(1000);
    }),
    { numRuns: 1000 },
  );
});
