import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MESSAGE_PREFIX_BYTES, MessageAssembler } from '../src/grpc/message-assembler.ts';

const KiB = 1024;

function announced(length: number): MessageAssembler {
  const assembler = new MessageAssembler();
  const prefix = Buffer.alloc(MESSAGE_PREFIX_BYTES);
  prefix.writeUInt32BE(length, 1);
  expect(assembler.takePrefix(prefix, 0, prefix.length)).toBe(MESSAGE_PREFIX_BYTES);
  return assembler;
}

test('a message comes together from frames of any lengths, and holds no more than its length or some times what has come', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 400 * KiB }),
      fc.array(fc.integer({ min: 1, max: 32 * KiB }), { minLength: 1, maxLength: 40 }),
      (length, frames) => {
        const message = Buffer.from(Array.from({ length }, (_, at) => at % 251));
        const assembler = announced(length);
        expect(assembler.held).toBe(0);
        let received = 0;
        for (let frame = 0; assembler.missing > 0; frame += 1) {
          const end = Math.min(length, received + frames[frame % frames.length]!);
          expect(assembler.take(message, received, end)).toBe(end);
          received = end;
          const most = Math.max(512, 2 * received, Math.min(8 * received, 128 * KiB));
          expect(assembler.held).toBeLessThanOrEqual(Math.min(length, most));
          expect(assembler.held).toBeGreaterThanOrEqual(received);
        }
        expect(assembler.message.equals(message)).toBe(true);
      },
    ),
    { numRuns: 50 },
  );
});

test('a value of 64 KiB has its whole buffer with the first frame, a longer message has not', () => {
  const frame = Buffer.alloc(16 * KiB);
  const usual = announced(64 * KiB + 30);
  usual.take(frame, 0, frame.length);
  expect(usual.held).toBe(64 * KiB + 30);
  const long = announced(1536 * KiB);
  long.take(frame, 0, frame.length);
  expect(long.held).toBe(128 * KiB);
});
