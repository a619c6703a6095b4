import fc from 'fast-check';
import { expect, test } from 'vitest';
import { base64Fault } from '../src/grpc/binary-metadata.ts';
import { percentEncode } from '../src/grpc/percent-encoding.ts';
import { parseTimeout } from '../src/grpc/timeout.ts';
import { protocolOf } from '../src/preface-sniffer.ts';

test.each([
  { text: '1H', timeout: { ms: 3_600_000 }, why: 'hours' },
  { text: '2M', timeout: { ms: 120_000 }, why: 'minutes' },
  { text: '3S', timeout: { ms: 3_000 }, why: 'seconds' },
  { text: '99999999m', timeout: { ms: 99_999_999 }, why: 'eight digits are the most' },
  { text: '500u', timeout: { ms: 0.5 }, why: 'microseconds' },
  { text: '0n', timeout: { ms: 0 }, why: 'no time at all' },
  {
    text: '',
    timeout: { fault: 'malformed grpc-timeout: transport: timeout string is too short: ""' },
    why: 'nothing',
  },
  {
    text: 'm',
    timeout: { fault: 'malformed grpc-timeout: transport: timeout string is too short: "m"' },
    why: 'a unit alone',
  },
  {
    text: '123456789m',
    timeout: { fault: 'malformed grpc-timeout: transport: timeout string is too long: "123456789m"' },
    why: 'nine digits',
  },
  {
    text: '12',
    timeout: { fault: 'malformed grpc-timeout: transport: timeout unit is not recognized: "12"' },
    why: 'no unit',
  },
  {
    text: '-1S',
    timeout: { fault: 'malformed grpc-timeout: strconv.ParseUint: parsing "-1": invalid syntax' },
    why: 'a sign',
  },
])('grpc-timeout "$text": $why', ({ text, timeout }) => {
  expect(parseTimeout(text)).toEqual(timeout);
});

test.each([
  { text: 'plain text!', encoded: 'plain text!', why: 'printable ASCII stays' },
  { text: '100%', encoded: '100%25', why: 'the escape itself is escaped' },
  { text: 'a\nb', encoded: 'a%0Ab', why: 'control characters' },
  { text: 'naïve', encoded: 'na%C3%AFve', why: 'bytes of UTF-8' },
])('grpc-message $text: $why', ({ text, encoded }) => {
  expect(percentEncode(text)).toBe(encoded);
});

test('an encoded message is printable ASCII, and decodes to what it was', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const encoded = percentEncode(text);
      expect(encoded).toMatch(/^[ -~]*$/);
      expect(decodeURIComponent(encoded)).toBe(text);
    }),
  );
});

test.each([
  { head: '', protocol: undefined, why: 'nothing yet' },
  { head: 'P', protocol: undefined, why: 'POST or PRI' },
  { head: 'PRI', protocol: undefined, why: 'a method could be called so' },
  { head: 'PRI ', protocol: 'h2', why: 'the preface' },
  { head: 'PRI * HTTP/2.0\r\n', protocol: 'h2', why: 'more of it' },
  { head: 'PO', protocol: 'http1', why: 'no preface any more' },
  { head: 'GET / HTTP/1.1', protocol: 'http1', why: 'a request' },
  { head: '\x16\x03', protocol: 'http1', why: 'TLS where none is spoken: for the HTTP parser to refuse' },
])('$head is $protocol: $why', ({ head, protocol }) => {
  expect(protocolOf(Buffer.from(head, 'latin1'))).toBe(protocol);
});

// The texts of Go's encoding/base64.
test.each([
  { value: '', fault: undefined },
  { value: 'AAEC', fault: undefined },
  { value: 'AAE=', fault: undefined },
  { value: 'AA==', fault: undefined },
  { value: 'AAE', fault: undefined },
  { value: 'AA', fault: undefined },
  { value: 'A', fault: 0 },
  { value: 'AAECA', fault: 4 },
  { value: '!!!', fault: 0 },
  { value: '-_8=', fault: 0 },
  { value: 'AAEC==', fault: 4 },
  { value: 'AA=', fault: 2 },
  { value: 'AA=A', fault: 2 },
  { value: 'A===', fault: 1 },
  { value: 'AAE=AAEC', fault: 4 },
  { value: 'AA==AAEC', fault: 4 },
  { value: 'AAECAAECAAECAA=', fault: 14 },
])('base64 $value: $fault', ({ value, fault }) => {
  expect(base64Fault(value)).toBe(fault === undefined ? undefined : `illegal base64 data at input byte ${fault}`);
});
