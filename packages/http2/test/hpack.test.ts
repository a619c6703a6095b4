import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HpackDecoder, HpackEncoder, type FieldToEncode, HeaderName } from '@engram/http2';

function decode(decoder: HpackDecoder, block: Buffer): string[] {
  const fields: string[] = [];
  decoder.decode(block, 0, block.length, { field: ({ name, value }) => fields.push(`${name}: ${value}`) });
  return fields;
}

const bytes = (hex: string): Buffer => Buffer.from(hex.replaceAll(' ', ''), 'hex');

// RFC 7541 Appendix C: sequences of blocks on one connection, and their fields.
describe.each([
  {
    why: 'C.3 requests without Huffman',
    tableBytes: 4096,
    blocks: [
      [
        '8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d',
        ':method: GET|:scheme: http|:path: /|:authority: www.example.com',
      ],
      [
        '8286 84be 5808 6e6f 2d63 6163 6865',
        ':method: GET|:scheme: http|:path: /|:authority: www.example.com|cache-control: no-cache',
      ],
    ],
  },
  {
    why: 'C.4 requests with Huffman',
    tableBytes: 4096,
    blocks: [
      ['8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff', ':method: GET|:scheme: http|:path: /|:authority: www.example.com'],
      [
        '8286 84be 5886 a8eb 1064 9cbf',
        ':method: GET|:scheme: http|:path: /|:authority: www.example.com|cache-control: no-cache',
      ],
      [
        '8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf',
        ':method: GET|:scheme: https|:path: /index.html|:authority: www.example.com|custom-key: custom-value',
      ],
    ],
  },
  {
    why: 'C.6 responses that evict from a table of 256 bytes',
    tableBytes: 256,
    blocks: [
      [
        '4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3',
        ':status: 302|cache-control: private|date: Mon, 21 Oct 2013 20:13:21 GMT|location: https://www.example.com',
      ],
      [
        '4883 640e ffc1 c0bf',
        ':status: 307|cache-control: private|date: Mon, 21 Oct 2013 20:13:21 GMT|location: https://www.example.com',
      ],
      [
        '88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07',
        ':status: 200|cache-control: private|date: Mon, 21 Oct 2013 20:13:22 GMT|location: https://www.example.com|content-encoding: gzip|set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1',
      ],
    ],
  },
])('$why', ({ tableBytes, blocks }) => {
  test('decodes', () => {
    const decoder = new HpackDecoder(tableBytes);
    for (const [block, fields] of blocks) expect(decode(decoder, bytes(block!)).join('|')).toBe(fields);
  });
});

test('the encoder makes the very bytes of C.4', () => {
  const encoder = new HpackEncoder(4096);
  const block = encoder.encode([
    { name: ':method', value: 'GET', indexing: 'remember' },
    { name: ':scheme', value: 'http', indexing: 'remember' },
    { name: ':path', value: '/', indexing: 'remember' },
    { name: ':authority', value: 'www.example.com', indexing: 'remember' },
  ]);
  expect(block.toString('hex')).toBe('828684418cf1e3c2e5f23a6ba0ab90f4ff');
});

test.each([
  { block: '80', why: 'index 0 names nothing' },
  { block: 'be', why: 'an index past the tables' },
  { block: 'ff ff ff ff ff 7f', why: 'an integer beyond reason' },
  { block: 'ff 80 80 80 80 80 80', why: 'an integer without end' },
  { block: 'ff', why: 'an integer cut short' },
  { block: '00', why: 'a name is missing' },
  { block: '00 01 61', why: 'a value is missing' },
  { block: '00 05 61 61', why: 'a string cut short' },
  { block: '00 01 61 81 fe', why: 'Huffman padding that is not all ones' },
  { block: '00 01 61 82 1f ff', why: 'Huffman padding of a whole byte' },
  { block: '00 01 61 84 ff ff ff ff', why: 'the end mark inside a string' },
  { block: '82 20', why: 'a table size update behind a field' },
  { block: '3f e2 1f', why: 'a table size update to 4097' },
])('$block is refused: $why', ({ block }) => {
  expect(() => decode(new HpackDecoder(4096), bytes(block))).toThrow(
    expect.objectContaining({ name: 'Http2Error', code: 9, streamId: 0 }),
  );
});

test('no bytes make the decoder do anything but decode or refuse', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 4 }), (blocks) => {
      const decoder = new HpackDecoder(200);
      try {
        for (const block of blocks) decode(decoder, Buffer.from(block));
      } catch (error) {
        expect(error).toMatchObject({ name: 'Http2Error', code: 9 });
      }
    }),
    { numRuns: 2000 },
  );
});

const byteText = fc.uint8Array({ maxLength: 40 }).map((text) => Buffer.from(text).toString('latin1'));
const someText = fc.oneof(
  byteText,
  fc.constantFrom('', 'grpc-status', '0', 'content-type', 'application/grpc', ':status', '200'),
);
const someField: fc.Arbitrary<FieldToEncode> = fc.record({
  name: someText,
  value: someText,
  indexing: fc.constantFrom('remember' as const, 'once' as const),
});
const step = fc.oneof(
  { weight: 4, arbitrary: fc.array(someField, { maxLength: 6 }) },
  { weight: 1, arbitrary: fc.constantFrom(0, 60, 100, 4096, 10_000) },
);

test('what one end encodes the other decodes, whatever the table sizes in between', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const encoder = new HpackEncoder(300);
      const decoder = new HpackDecoder(10_000);
      for (const fields of steps) {
        if (typeof fields === 'number') encoder.setPeerMaxBytes(fields);
        else
          expect(decode(decoder, encoder.encode(fields))).toEqual(fields.map(({ name, value }) => `${name}: ${value}`));
      }
    }),
  );
});

test('a block that was encoded without changing the table may be sent again', () => {
  const encoder = new HpackEncoder(4096);
  const fields: FieldToEncode[] = [
    { name: ':status', value: '200', indexing: 'remember' },
    { name: 'content-type', value: 'application/grpc', indexing: 'remember' },
  ];
  encoder.encode(fields);
  const before = encoder.tableChanges;
  expect(encoder.encode(fields)).toEqual(bytes('88 be'));
  expect(encoder.tableChanges).toBe(before);
});

test.each([
  { name: ':path', value: '/x', known: HeaderName.PATH, malformed: false, why: 'a name of the protocol' },
  { name: 'token', value: 'x', known: HeaderName.OTHER, malformed: false, why: 'anything else' },
  { name: ':paths', value: '/x', known: HeaderName.UNKNOWN_PSEUDO, malformed: false, why: 'told apart by its number' },
  { name: 'Token', value: 'x', known: HeaderName.OTHER, malformed: true, why: 'no capitals in names' },
  { name: 'to ken', value: 'x', known: HeaderName.OTHER, malformed: true, why: 'no blanks in names' },
  { name: '', value: 'x', known: HeaderName.OTHER, malformed: true, why: 'a name has a name' },
  { name: 'a', value: ' x', known: HeaderName.OTHER, malformed: false, why: 'a blank in front, as in Go' },
  { name: 'a', value: 'x\t', known: HeaderName.OTHER, malformed: false, why: 'a tab behind, as in Go' },
  { name: 'a', value: 'x\x1by', known: HeaderName.OTHER, malformed: true, why: 'a control character' },
  { name: 'a', value: 'x\x7f', known: HeaderName.OTHER, malformed: true, why: 'another one' },
  { name: 'a', value: 'x\ny', known: HeaderName.OTHER, malformed: true, why: 'a line break' },
  { name: 'a', value: 'x y\u00ff', known: HeaderName.OTHER, malformed: false, why: 'bytes above ASCII are allowed' },
])('$name: $value, $why', ({ name, value, known, malformed }) => {
  const block = new HpackEncoder(0).encode([{ name, value, indexing: 'once' }]);
  new HpackDecoder(0).decode(block, 0, block.length, {
    field: (field) => expect({ known: field.known, malformed: field.malformed }).toEqual({ known, malformed }),
  });
});
