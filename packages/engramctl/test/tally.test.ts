import { describe, expect, test } from 'vitest';
import { utf8 } from '@engram/core';
import { keyLine, treeJson, treeTable, treeText } from '../src/inspect/inspect-text.ts';
import type { StoredKey } from '../src/inspect/stored-key.ts';
import { Tally } from '../src/inspect/tally.ts';
import { kubeProtobuf } from './support/kube.ts';

const stored = (key: string, value: string | Uint8Array = 'v', fields: Partial<StoredKey> = {}): StoredKey => ({
  key: utf8(key),
  value: typeof value === 'string' ? utf8(value) : value,
  createRevision: 2,
  modRevision: 3,
  version: 1,
  lease: 0n,
  ...fields,
});

function tallied(): Tally {
  const tally = new Tally('/registry');
  tally.add({
    keys: [
      stored('/registry/pods/default/web', kubeProtobuf({ name: 'web' }), { version: 5 }),
      stored('/registry/pods/default/db', kubeProtobuf({ name: 'db', spec: 'x'.repeat(100) }), { lease: 7n }),
      stored('/registry/pods/prod/api', kubeProtobuf({ name: 'api' })),
      stored('/registry/secrets/default/s1', 'k8s:enc:aescbc:v1:key1:x'),
      stored('/registry/secrets/default/s2', 'k8s:enc:aescbc:v1:key2:x'),
      stored(
        '/registry/example.org/widgets/w',
        '{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"w"}}',
      ),
      stored('compact_rev_key', '12'),
    ],
    old: [
      { key: utf8('/registry/pods/default/web'), valueBytes: 40, deletion: false },
      { key: utf8('/registry/pods/gone/x'), valueBytes: 0, deletion: true },
    ],
  });
  return tally;
}
const head = { name: 'a.db', revision: 12, compactRevision: 4 };

describe('a store that is counted', () => {
  test('is a tree of resources and namespaces, the largest first', () => {
    const masked = (text: string): string => text.replaceAll(/\d+ B/g, '# B');
    expect(masked(treeText(head, tallied(), { top: 2, hex: false }))).toBe(
      masked(`\
a.db: revision 12, compacted at 4, 7 keys, 693 B, 11 changes, history 2 versions (1 deletion), 87 B
├─ pods: 3 keys, 358 B, 7 changes, history 2 versions (1 deletion), 87 B [protobuf; v1 Pod], largest 161 B /registry/pods/default/db
│  ├─ default: 2 keys, 275 B, 6 changes, history 1 version (0 deletions), 66 B
│  ├─ prod: 1 key, 83 B, 1 change
│  └─ 1 more: 0 keys, 0 B, 0 changes, history 1 version (1 deletion), 21 B
├─ secrets: 2 keys, 104 B, 2 changes [encrypted aescbc:v1:key1 1, encrypted aescbc:v1:key2 1], largest 24 B /registry/secrets/default/s1
│  └─ default: 2 keys, 104 B, 2 changes
└─ 2 more: 2 keys, 119 B, 2 changes
`),
    );
  });

  test('is a table', () => {
    const lines = treeTable(tallied(), { top: 20, hex: false }).split('\n');
    expect(
      lines.slice(3, -2).map((line) =>
        line
          .split('│')
          .slice(1, 4)
          .map((cell) => cell.trim()),
      ),
    ).toEqual([
      ['pods', '(all)', '3'],
      ['pods', 'default', '2'],
      ['pods', 'prod', '1'],
      ['pods', 'gone', '0'],
      ['secrets', '(all)', '2'],
      ['secrets', 'default', '2'],
      ['example.org/widgets', '(all)', '1'],
      ['(other keys)', '(all)', '1'],
      ['(total)', '', '7'],
    ]);
  });

  test('is JSON with all of it', () => {
    expect(treeJson(head, tallied())).toMatchObject({
      name: 'a.db',
      revision: 12,
      compactRevision: 4,
      total: { keys: 7, changes: 11, leased: 1, oldVersions: 2, deletions: 1 },
      resources: [
        {
          resource: 'pods',
          keys: 3,
          kinds: ['v1 Pod'],
          forms: { protobuf: 3 },
          namespaces: [{ namespace: 'default', keys: 2 }, {}, {}],
        },
        { resource: 'secrets', forms: { 'encrypted aescbc:v1:key1': 1, 'encrypted aescbc:v1:key2': 1 } },
        { resource: 'example.org/widgets', kinds: ['example.org/v1 Widget'], forms: { json: 1 } },
        { resource: '(other keys)', forms: { other: 1 } },
      ],
    });
  });

  test('holds so many places and no more, and counts the others together', () => {
    const tally = new Tally('/registry', 10);
    const keys = Array.from({ length: 1000 }, (_, at) => stored(`/registry/r${at % 50}/ns-${at}/x`));
    tally.add({ keys, old: [] });
    const places = tally.resources.reduce((sum, { namespaces }) => sum + namespaces.size, 0);
    expect(tally.total.keys).toBe(1000);
    expect(tally.resources.reduce((sum, { counts }) => sum + counts.keys, 0)).toBe(1000);
    expect(places).toBeLessThan(25);
    expect(tally.resources.map(({ resource }) => resource)).toContain('(other keys)');
  });
});

test('a key is a line: what its value is, its size and its versions', () => {
  const object = kubeProtobuf({ name: 'web', kind: 'Pod\x1b[2J' });
  expect(keyLine(stored('/registry/pods/default/web', object, { lease: 255n }), false)).toBe(
    `/registry/pods/default/web protobuf v1 Pod\\u001b[2J default/web uid u-1 ${object.length} B version 1 created 2 modified 3 lease ff\n`,
  );
  expect(keyLine(stored('a', '{"apiVersion":"v1","kind":"X"}'), true)).toBe(
    '\\x61 json v1 X 30 B version 1 created 2 modified 3\n',
  );
  expect(keyLine(stored('a', 'k8s\0\xff'), false)).toContain('a damaged (the envelope cannot be decoded: ');
});
