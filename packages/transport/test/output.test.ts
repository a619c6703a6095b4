import { Socket } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { COPY_MAX_BYTES, Output } from '../src/h2/output.ts';
import { SendQueue } from '../src/h2/send-queue.ts';
import { SHORT_SLAB_BYTES, SLAB_BYTES, SlabPool } from '../src/h2/slab-pool.ts';
import { arrayBuffersHeld } from './support/memory.ts';

/** A socket whose kernel takes, and reads, written bytes only when the test says so. */
class SlowSocket extends Socket {
  taken = '';
  #waiting: { chunks: readonly Uint8Array[]; callback: () => void }[] = [];

  override _write(chunk: Uint8Array, _encoding: BufferEncoding, callback: () => void): void {
    this.#waiting.push({ chunks: [chunk], callback });
  }

  override _writev(chunks: readonly { chunk: Uint8Array }[], callback: () => void): void {
    this.#waiting.push({ chunks: chunks.map(({ chunk }) => chunk), callback });
  }

  async kernelTakes(): Promise<void> {
    const next = this.#waiting.shift();
    if (next === undefined) return;
    this.taken += Buffer.concat(next.chunks).toString('latin1');
    next.callback();
    await new Promise((resolve) => setImmediate(resolve)); // callbacks of writes run in a later tick
  }
}

const piece = fc
  .tuple(fc.oneof(fc.nat(60), fc.constantFrom(COPY_MAX_BYTES, COPY_MAX_BYTES + 1, 6_000)), fc.nat(255))
  .map(([size, byte]) => Buffer.alloc(size, byte));
const step = fc.oneof(
  { weight: 5, arbitrary: piece },
  { weight: 2, arbitrary: fc.constant('flush' as const) },
  { weight: 1, arbitrary: fc.constant('take' as const) },
);

test('what is put comes out in order and unchanged, whenever it is flushed and taken', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.nat(1), step), { maxLength: 80 }), async (steps) => {
      const pool = new SlabPool(); // shared, so that a slab that is returned too early is overwritten by the other output
      const ends = [0, 1].map(() => {
        const socket = new SlowSocket();
        return { socket, output: new Output(socket, pool, () => {}), put: '' };
      });
      for (const [which, action] of steps) {
        const end = ends[which]!;
        if (action === 'flush') end.output.flush();
        else if (action === 'take') await end.socket.kernelTakes();
        else {
          end.output.put(action);
          end.put += action.toString('latin1');
        }
      }
      for (const { socket, output, put } of ends) {
        for (let round = 0; round < 3; round += 1) {
          output.flush();
          await socket.kernelTakes();
        }
        expect(socket.taken === put).toBe(true);
        expect(output.pendingBytes).toBe(0);
      }
    }),
    { numRuns: 300 },
  );
});

test('a connection with little to send takes a short slab, one that sent more before a long one', async () => {
  const socket = new SlowSocket();
  const output = new Output(socket, new SlabPool(), () => {});
  const lengths: number[] = [];
  for (const bytes of [600, SHORT_SLAB_BYTES, SHORT_SLAB_BYTES + 1, 600, 600]) {
    for (let left = bytes; left > 0; left -= 600) output.put(Buffer.alloc(Math.min(600, left)));
    lengths.push(output.slab.length);
    output.flush();
    await socket.kernelTakes();
  }
  expect(lengths).toEqual([SHORT_SLAB_BYTES, SHORT_SLAB_BYTES, SLAB_BYTES, SLAB_BYTES, SHORT_SLAB_BYTES]);
  output.room(SHORT_SLAB_BYTES + 1);
  expect(output.slab.length).toBe(SLAB_BYTES);
});

test('slabs that were given back are taken again, each as one of its kind', () => {
  const pool = new SlabPool();
  const given = [pool.take(), pool.takeShort(), pool.take(), pool.takeShort()];
  for (const slab of given) pool.give(slab);
  expect(new Set([pool.takeShort(), pool.take(), pool.takeShort(), pool.take()])).toEqual(new Set(given));
  expect(pool.takeShort().length).toBe(SHORT_SLAB_BYTES);
  expect(pool.take().length).toBe(SLAB_BYTES);
});

test('a slab is not asked for more than it has', () => {
  const output = new Output(new SlowSocket(), new SlabPool(), () => {});
  expect(() => output.room(SLAB_BYTES + 1)).toThrow('no slab has that much room');
});

test('a send queue gives back the bytes that it was given, in any portions', () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 30 }), { maxLength: 200 }),
      fc.array(fc.integer({ min: 1, max: 50 })),
      (pieces, portions) => {
        const output = new Output(new SlowSocket(), new SlabPool(), () => {});
        const queue = new SendQueue();
        for (const bytes of pieces) queue.push(bytes);
        for (const portion of portions) queue.move(Math.min(portion, queue.bytes), output);
        queue.move(queue.bytes, output);
        expect(queue.bytes).toBe(0);
        const written = Buffer.concat(pieces);
        expect(output.pendingBytes).toBe(written.length);
        expect(output.slab.subarray(0, output.at).equals(written)).toBe(true);
      },
    ),
  );
});

test('a send queue keeps nothing of a piece that is sent, also while others wait', async () => {
  const PIECE_BYTES = 256 * 1024;
  const queue = new SendQueue();
  const before = await arrayBuffersHeld();
  for (let at = 0; at < 40; at += 1) queue.push(Buffer.allocUnsafeSlow(PIECE_BYTES));
  const send = (bytes: number): void => queue.move(bytes, new Output(new SlowSocket(), new SlabPool(), () => {}));
  send(39 * PIECE_BYTES);
  expect((await arrayBuffersHeld()) - before).toBeLessThan(3 * PIECE_BYTES);
  expect(queue.bytes).toBe(PIECE_BYTES);
});
