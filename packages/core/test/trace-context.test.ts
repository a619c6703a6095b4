import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  decodeTraceContext,
  encodeTraceContext,
  parseTraceparent,
  TRACE_CONTEXT_BYTES,
  traceparentOf,
} from '../src/trace-context.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

const idOf = (digits: number) => fc.stringMatching(new RegExp(`^[0-9a-f]{${digits}}$`)).filter((id) => /[^0]/.test(id));
const context = fc.record({ traceId: idOf(32), spanId: idOf(16), flags: fc.integer({ min: 0, max: 255 }) });

describe('a header traceparent', () => {
  test('comes back as it was made', () => {
    fc.assert(
      fc.property(context, (made) => {
        expect(parseTraceparent(traceparentOf(made))).toEqual(made);
      }),
    );
  });

  test.each([
    { header: `00-${TRACE}-${SPAN}-01`, flags: 1, why: 'version 00' },
    { header: `00-${TRACE}-${SPAN}-ff`, flags: 255, why: 'flags that nobody knows yet' },
    { header: `01-${TRACE}-${SPAN}-00`, flags: 0, why: 'a later version of the same length' },
    { header: `cc-${TRACE}-${SPAN}-01-what-the-future-brings`, flags: 1, why: 'a later version with more fields' },
  ])('is read: $why', ({ header, flags }) => {
    expect(parseTraceparent(header)).toEqual({ traceId: TRACE, spanId: SPAN, flags });
  });

  test.each([
    { header: undefined, why: 'there is none' },
    { header: '', why: 'empty' },
    { header: `00-${TRACE}-${SPAN}`, why: 'no flags' },
    { header: `00-${TRACE}-${SPAN}-1`, why: 'one digit of flags' },
    { header: `00-${TRACE}-${SPAN}-01-`, why: 'more behind version 00' },
    { header: `00-${TRACE}-${SPAN}-01-x`, why: 'a field more in version 00' },
    { header: `ff-${TRACE}-${SPAN}-01`, why: 'the forbidden version' },
    { header: `cc-${TRACE}-${SPAN}-01.x`, why: 'a later version that goes on without a dash' },
    { header: `0-${TRACE}-${SPAN}-001`, why: 'a short version' },
    { header: `00-${'0'.repeat(32)}-${SPAN}-01`, why: 'a trace id of zeros' },
    { header: `00-${TRACE}-${'0'.repeat(16)}-01`, why: 'a span id of zeros' },
    { header: `00-${TRACE.toUpperCase()}-${SPAN}-01`, why: 'upper case' },
    { header: `00-${TRACE.slice(1)}g-${SPAN}-01`, why: 'no hex digit' },
    { header: ` 00-${TRACE}-${SPAN}-01`, why: 'a space' },
    { header: `00-${TRACE}-${SPAN}-0\n`, why: 'a line break' },
    { header: `cc-${TRACE}-${SPAN}-01-${'x'.repeat(300)}`, why: 'too long for any version' },
  ])('is ignored: $why', ({ header }) => {
    expect(parseTraceparent(header)).toBeUndefined();
  });

  test('is ignored or read, and never an error, whatever it holds', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 300, unit: 'binary' }), (header) => {
        const read = parseTraceparent(header);
        if (read !== undefined) expect(header).toContain(read.traceId);
      }),
    );
  });
});

describe('a context between members', () => {
  test('is 25 bytes, and comes back', () => {
    fc.assert(
      fc.property(context, (made) => {
        const bytes = encodeTraceContext(made);
        expect(bytes.length).toBe(25);
        // A view into a longer message, as the codec gives it.
        const message = new Uint8Array(40).fill(9);
        message.set(bytes, 7);
        expect(decodeTraceContext(message.subarray(7, 7 + TRACE_CONTEXT_BYTES))).toEqual(made);
      }),
    );
  });

  test('of other bytes is none', () => {
    const bytes = encodeTraceContext({ traceId: TRACE, spanId: SPAN, flags: 1 });
    expect(decodeTraceContext(new Uint8Array(0))).toBeUndefined();
    expect(decodeTraceContext(bytes.subarray(1))).toBeUndefined();
    expect(decodeTraceContext(Uint8Array.of(...bytes, 0))).toBeUndefined();
    expect(decodeTraceContext(bytes.slice().fill(0, 0, 16)), 'a trace id of zeros').toBeUndefined();
    expect(decodeTraceContext(bytes.slice().fill(0, 16, 24)), 'a span id of zeros').toBeUndefined();
  });
});
