import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type KubeValue, kubeValue } from '@engram/engramctl';
import { utf8 } from '@engram/core';
import { field, kubeProtobuf, varint } from './support/kube.ts';

const FORMS = ['protobuf', 'json', 'cbor', 'encrypted', 'damaged', 'other'];
const NEST = 200_000;

describe('what kube-apiserver stores', () => {
  test('an object in protobuf, with its envelope', () => {
    expect(
      kubeValue(kubeProtobuf({ apiVersion: 'apps/v1', kind: 'Deployment', name: 'api', namespace: 'prod', spec: 'x' })),
    ).toEqual({
      form: 'protobuf',
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      contentType: '',
      contentEncoding: '',
      rawBytes: 25,
      meta: { name: 'api', namespace: 'prod', uid: 'u-1' },
    });
  });

  test('a Namespace, whose empty fields are written, too', () => {
    // The first and the last bytes as etcdctl shows them of /registry/namespaces/default.
    const object = Buffer.concat([
      field(
        1,
        Buffer.concat([field(1, 'default'), field(2, ''), field(3, ''), field(4, ''), field(5, '6f1f'), field(7, '')]),
      ),
      field(2, field(1, 'kubernetes')),
      field(3, field(1, 'Active')),
    ]);
    const bytes = Buffer.concat([
      Buffer.from('6b3873000a0f0a02763112094e616d657370616365', 'hex'),
      field(2, object),
      Buffer.from('1a002200', 'hex'),
    ]);
    expect(kubeValue(bytes)).toMatchObject({
      form: 'protobuf',
      apiVersion: 'v1',
      kind: 'Namespace',
      meta: { name: 'default', namespace: '' },
    });
  });

  test('an object whose bytes are encoded in another way has no names', () => {
    const type = Buffer.concat([field(1, 'v1'), field(2, 'Secret')]);
    const bytes = Buffer.concat([utf8('k8s\0'), field(1, type), field(2, field(1, field(1, 'x'))), field(3, 'gzip')]);
    expect(kubeValue(bytes)).toEqual({
      form: 'protobuf',
      apiVersion: 'v1',
      kind: 'Secret',
      contentType: '',
      contentEncoding: 'gzip',
      rawBytes: 5,
    });
  });

  test('a custom resource in JSON', () => {
    const object = {
      apiVersion: 'example.org/v1',
      kind: 'Widget',
      metadata: { name: 'w', namespace: 'n', uid: 'u' },
      spec: [1],
    };
    expect(kubeValue(utf8(JSON.stringify(object)))).toEqual({
      form: 'json',
      apiVersion: 'example.org/v1',
      kind: 'Widget',
      meta: { name: 'w', namespace: 'n', uid: 'u' },
    });
  });

  test.each([
    ['k8s:enc:aescbc:v1:key1:\0\x01', { provider: 'aescbc', version: 'v1', keyName: 'key1' }],
    ['k8s:enc:secretbox:v1:2026-01:x', { provider: 'secretbox', version: 'v1', keyName: '2026-01' }],
    ['k8s:enc:kms:v2:cloud-kms:', { provider: 'kms', version: 'v2', keyName: 'cloud-kms' }],
  ])('a marker of encryption at rest: %j', (text, marker) => {
    expect(kubeValue(utf8(text))).toEqual({ form: 'encrypted', ...marker });
  });

  test('CBOR by its tag', () => expect(kubeValue(Buffer.from('d9d9f7a0', 'hex'))).toEqual({ form: 'cbor' }));
});

describe('values that are none', () => {
  const damaged: readonly (readonly [what: string, bytes: Uint8Array])[] = [
    ['an envelope that is cut within a field', kubeProtobuf().subarray(0, 9)],
    ['a length beyond the end', Buffer.concat([utf8('k8s\0'), Buffer.from([0x12, 0xff, 0xff, 0xff, 0xff, 0x7f])])],
    ['a varint without end', Buffer.concat([utf8('k8s\0'), Buffer.alloc(64, 0xff)])],
    ['a field of number 0', Buffer.concat([utf8('k8s\0'), Buffer.from([0x02, 0x00])])],
    ['groups within groups', Buffer.concat([utf8('k8s\0'), Buffer.alloc(NEST, 0x0b)])],
    ['a name of a megabyte', Buffer.concat([utf8('k8s\0'), field(1, field(2, 'x'.repeat(1 << 20)))])],
    ['a marker without its end', utf8('k8s:enc:aescbc:v1:key')],
    ['a marker of a megabyte', Buffer.concat([utf8('k8s:enc:'), Buffer.alloc(1 << 20, 0x61), utf8(':v1:k:')])],
  ];
  test.each(damaged)('%s is damaged', (_what, bytes) => {
    expect(kubeValue(bytes)).toMatchObject({ form: 'damaged', why: expect.any(String) });
  });

  test.each([
    ['nothing', ''],
    ['a text', 'hello'],
    ['a brace', '{'],
    ['JSON that is no object of Kubernetes', '{"a":1}'],
    ['JSON with a kind that is no text', '{"apiVersion":"v1","kind":{"a":1}}'],
    ['JSON with a kind of a megabyte', JSON.stringify({ apiVersion: 'v1', kind: 'x'.repeat(1 << 20) })],
    ['a deep nest without end', '{"a":'.repeat(NEST)],
    ['k8s and another byte', 'k8s\x01'],
  ])('%s is of no form', (_what, text) => expect(kubeValue(utf8(text))).toEqual({ form: 'other' }));

  test('JSON that nests as deep as it is long is read by its head', () => {
    const text = `{"apiVersion":"v1","kind":"X","metadata":{"name":"deep"},"a":${'['.repeat(NEST)}${']'.repeat(NEST)}}`;
    expect(['json', 'other']).toContain(kubeValue(utf8(text)).form);
  });

  test('an object without names has none, and an envelope without an object is empty', () => {
    expect(kubeValue(utf8('k8s\0'))).toEqual({
      form: 'protobuf',
      apiVersion: '',
      kind: '',
      contentType: '',
      contentEncoding: '',
      rawBytes: 0,
    });
    const bytes = Buffer.concat([utf8('k8s\0'), field(2, Buffer.from([0x08, 0x01]))]);
    expect(kubeValue(bytes)).toMatchObject({ form: 'protobuf', rawBytes: 2 });
    expect(kubeValue(bytes)).not.toHaveProperty('meta');
  });

  test('fields of another wire type, and unknown ones, are passed over', () => {
    const bytes = Buffer.concat([
      utf8('k8s\0'),
      Buffer.from([0x08, 0x05]), // field 1 as a number
      varint(1000 * 8 + 5),
      Buffer.alloc(4), // field 1000, four bytes
      field(1, field(2, 'Pod')),
    ]);
    expect(kubeValue(bytes)).toMatchObject({ form: 'protobuf', kind: 'Pod' });
  });
});

describe('any bytes', () => {
  const known = (value: KubeValue): void => {
    expect(FORMS).toContain(value.form);
  };
  const starts = fc
    .constantFrom('k8s\0', 'k8s:enc:', '{', '{"apiVersion":"v1","kind":"X","metadata":', '')
    .map((text) => utf8(text));

  test('have a form, and none throws', () => {
    fc.assert(
      fc.property(starts, fc.uint8Array({ maxLength: 300 }), (start, rest) =>
        known(kubeValue(Buffer.concat([start, rest]))),
      ),
      { numRuns: 3000 },
    );
  });

  test('that were an object, with bytes changed, cut off or doubled, have a form', () => {
    const objects = fc
      .record({
        apiVersion: fc.string(),
        kind: fc.string(),
        name: fc.string(),
        namespace: fc.string(),
        spec: fc.string(),
      })
      .map((options) => kubeProtobuf(options));
    const changes = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 4 });
    fc.assert(
      fc.property(objects, changes, fc.nat(), (object, changed, cut) => {
        const bytes = Buffer.from(object);
        for (const [at, byte] of changed) bytes[at % bytes.length] = byte;
        known(kubeValue(bytes));
        known(kubeValue(bytes.subarray(0, cut % (bytes.length + 1))));
        known(kubeValue(Buffer.concat([bytes, bytes])));
      }),
      { numRuns: 2000 },
    );
  });

  test('of a sound object give its names back', () => {
    const name = fc.string({ minLength: 1, maxLength: 50 }).filter((text) => text.isWellFormed());
    fc.assert(
      fc.property(name, name, name, (kind, ownName, namespace) => {
        expect(kubeValue(kubeProtobuf({ kind, name: ownName, namespace }))).toMatchObject({
          form: 'protobuf',
          kind,
          meta: { name: ownName, namespace },
        });
      }),
    );
  });
});
