import { logPosition } from '@engram/core';
import { appendRecords, never, sealOf } from '@engram/storage/testing';
import { expect, test } from 'vitest';
import type { FileSystem, StorageFile } from '../src/file-system.ts';
import { nodeGround, openOn } from '../src/open.ts';
import { realClock, realRandom } from '@engram/sim';
import { SegmentBed, TestLogger } from './segment-bed.ts';

const at = logPosition;

/** Counts the reads of records. An inline read takes `readMs`. */
class Slow {
  inline = 0;
  elsewhere = 0;
  readMs = 0;
  diskReads = 0;
  #nowMs = 0;
  readonly clock = { ...realClock, nowMs: () => this.#nowMs };

  passes(ms: number): void {
    this.#nowMs += ms;
  }

  get fileSystem(): FileSystem {
    const { fileSystem } = nodeGround;
    return {
      ...fileSystem,
      diskReads: () => this.diskReads,
      open: async (path, mode) => {
        const file = await fileSystem.open(path, mode);
        return path.endsWith('.seg') ? this.#file(file) : file;
      },
    };
  }

  #file(file: StorageFile): StorageFile {
    const read = file.read.bind(file);
    return Object.assign(file, {
      read: (target: Uint8Array, offset: number, inline?: boolean) => {
        if (inline === true) {
          this.inline += 1;
          this.passes(this.readMs);
        } else {
          this.elsewhere += 1;
        }
        return read(target, offset, inline);
      },
    });
  }
}

test('few records are read inline while that is fast, and elsewhere for a second where it is not', async () => {
  await using bed = await SegmentBed.make();
  const slow = new Slow();
  const ground = { ...nodeGround, fileSystem: slow.fileSystem };
  await using storage = await openOn(ground, {
    path: bed.path,
    clock: slow.clock,
    random: realRandom,
    logger: new TestLogger(),
  });
  await storage.log.seal(sealOf(1));
  await appendRecords(storage, 1, [100]);
  const get = async (times: number): Promise<readonly [inline: number, elsewhere: number]> => {
    const before = [slow.inline, slow.elsewhere] as const;
    for (let time = 0; time < times; time += 1) await storage.values.getMany([at(7)], never);
    return [slow.inline - before[0], slow.elsewhere - before[1]];
  };
  expect(await get(20)).toEqual([20, 0]);
  // A single slow read may have waited for the processor.
  slow.readMs = 30;
  await get(1);
  slow.readMs = 0.002;
  expect(await get(50)).toEqual([50, 0]);
  // Nothing came from the disk: other programs had the processor.
  slow.readMs = 0.2;
  expect(await get(50)).toEqual([50, 0]);
  slow.readMs = 0.002;
  await get(50);
  slow.diskReads = 8;
  slow.readMs = 0.2;
  const [inline, elsewhere] = await get(50);
  expect(inline).toBeLessThan(10);
  expect(elsewhere).toBe(50 - inline);
  slow.readMs = 0.002;
  expect(await get(5)).toEqual([0, 5]);
  slow.passes(1000);
  expect(await get(5)).toEqual([5, 0]);
});
