import { SimClock, TestLogger } from '@engram/sim';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Condition } from '../src/disk/condition.ts';
import type { StorageFile } from '../src/disk/file-system.ts';
import { LARGE_APPEND_BYTES, Preallocation, reserveBytesMin } from '../src/disk/preallocation.ts';

const LIMIT = 4096;

/** A file in memory. Writes take effect in order, one with each `step`. */
class SlowFile implements StorageFile {
  readonly bytes = new Uint8Array(4 * LIMIT);
  length = 0;
  readonly #waiting: (() => void)[] = [];

  /** Returns false if nothing waits. */
  step(): boolean {
    const next = this.#waiting.shift();
    next?.();
    return next !== undefined;
  }
  #later(work: () => void): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(() => {
        work();
        resolve();
      });
    });
  }
  write(bytes: Uint8Array, offset: number): Promise<void> {
    return this.#later(() => {
      this.bytes.set(bytes, offset);
      this.length = Math.max(this.length, offset + bytes.length);
    });
  }
  sync(): Promise<void> {
    return this.#later(() => {});
  }
  async size(): Promise<number> {
    return this.length;
  }
  async read(): Promise<number> {
    return 0;
  }
  readNow(): number {
    return 0;
  }
  async truncate(): Promise<void> {}
  async close(): Promise<void> {}
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}

test('zeros never fall on what was appended, however the two meet', async () => {
  const steps = fc.array(
    fc.oneof(
      {
        weight: 3,
        arbitrary: fc.record({ kind: fc.constant('append' as const), bytes: fc.integer({ min: 1, max: 900 }) }),
      },
      { weight: 4, arbitrary: fc.record({ kind: fc.constant('disk' as const), bytes: fc.constant(0) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('time' as const), bytes: fc.constantFrom(10, 100_000) }) },
    ),
    { maxLength: 120, size: 'max' },
  );
  let ahead = 0;
  await fc.assert(
    fc.asyncProperty(steps, async (list) => {
      const file = new SlowFile();
      const clock = new SimClock();
      const range = { end: 32, reserved: 32, limit: LIMIT, bytes: reserveBytesMin(LIMIT) };
      const preallocation = new Preallocation(file, range, clock, new Condition('/data', new TestLogger()));
      let end = 32;
      for (const { kind, bytes } of list) {
        if (kind === 'disk') file.step();
        else if (kind === 'time') clock.advance(bytes);
        else {
          if (end + bytes > LIMIT) continue;
          const cleared = preallocation.claim(end + bytes);
          let isClear = cleared === undefined;
          void cleared?.then(() => (isClear = true));
          // An append waits for one write at most; otherwise it would wait for all of them.
          for (let writes = 0; !isClear; writes += 1) {
            expect(writes).toBeLessThan(2);
            file.step();
            await settle();
          }
          file.bytes.fill(1, end, end + bytes);
          file.length = Math.max(file.length, end + bytes);
          end += bytes;
          preallocation.advance();
        }
        await settle();
      }
      const stopping = preallocation.stop();
      do await settle();
      while (file.step());
      await stopping;
      expect(file.bytes.subarray(32, end).every((byte) => byte === 1)).toBe(true);
      expect(file.bytes.subarray(end).every((byte) => byte === 0)).toBe(true);
      expect(file.length).toBeLessThanOrEqual(LIMIT);
      if (file.length > end) ahead += 1;
    }),
    { numRuns: 300 },
  );
  // Otherwise nothing was reserved, and the test proved nothing.
  expect(ahead).toBeGreaterThan(0);
});

test('a disk that takes no zeros is said once, and appends go on', async () => {
  const logger = new TestLogger();
  const file = new SlowFile();
  file.write = async () => {
    throw new Error('full');
  };
  const range = { end: 32, reserved: 32, limit: LIMIT, bytes: 256 };
  const preallocation = new Preallocation(file, range, new SimClock(), new Condition('/data', logger));
  for (let end = 64; end < 1000; end += 32) {
    expect(preallocation.claim(end)).toBeUndefined();
    preallocation.advance();
    await settle();
  }
  await preallocation.stop();
  expect(logger.warnings).toEqual(['cannot reserve space for appends']);
});

test('nothing is reserved behind a large append, and again behind a small one', async () => {
  const limit = 64 << 20;
  const file = new SlowFile();
  const written: number[] = [];
  file.write = async (_bytes, offset) => void written.push(offset);
  const range = { end: 32, reserved: 32, limit, bytes: reserveBytesMin(limit) };
  const preallocation = new Preallocation(file, range, new SimClock(), new Condition('/data', new TestLogger()));
  let end = 32;
  const append = async (bytes: number): Promise<void> => {
    end += bytes;
    preallocation.claim(end);
    preallocation.advance();
    await settle();
  };
  for (let large = 0; large < 3; large += 1) await append(LARGE_APPEND_BYTES);
  expect(written).toEqual([]);
  await append(LARGE_APPEND_BYTES - 1);
  expect(written).toEqual([end]);
  const stopping = preallocation.stop();
  do await settle();
  while (file.step());
  await stopping;
});
