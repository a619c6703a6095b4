import { logPosition } from '@engram/core';
import { Loop } from '@engram/loop';
import { SimClock } from '@engram/sim';
import { record, sealOf } from '@engram/storage/testing';
import { expect, test } from 'vitest';
import type { FileSystem, StorageFile } from '../src/disk/file-system.ts';
import { type Ground, unsyncedGround } from '../src/ground.ts';
import { SegmentBed } from './segment-bed.ts';

const BUDGET_MS = 10;
const STALL_MS = 40;

/** A process that is idle between two appends, and a disk on which an inline write takes as long as the test says. */
class StallingGround implements Ground {
  readonly clock = new SimClock();
  readonly fileSystem: FileSystem;
  readonly reserves = false;
  readonly openMeta = unsyncedGround.openMeta;
  takesMs = 0;
  inline = 0;
  #idleMs = 0;

  constructor() {
    const { fileSystem } = unsyncedGround;
    this.fileSystem = {
      ...fileSystem,
      open: async (path, mode) => this.#watched(await fileSystem.open(path, mode)),
    };
  }

  #watched(file: StorageFile): StorageFile {
    const write = file.write.bind(file);
    file.write = (bytes, offset, inline) => {
      if (inline === true) {
        this.inline += 1;
        this.clock.advance(this.takesMs);
      }
      return write(bytes, offset, inline);
    };
    return file;
  }

  // Called without its object.
  readonly idleMs = (): number => {
    this.#idleMs += 1;
    return this.#idleMs;
  };
}

test('an inline append that the disk keeps is named to the watch of the loop, and the next ones wait elsewhere', async () => {
  const ground = new StallingGround();
  const { clock } = ground;
  const stretches: [string, number][] = [];
  const watch = {
    budgetMs: BUDGET_MS,
    reportedMs: 0,
    began: () => {},
    stretched: (phase: string, ms: number) => void stretches.push([phase, ms]),
  };
  const loop = new Loop({ clock });
  loop.watch = watch;
  await using bed = await SegmentBed.make(64 << 20, { ground, clock, loop });
  const storage = await bed.openSealed();
  let next = 1;
  const append = async (): Promise<void> => {
    const outcome = await storage.log.append({ first: logPosition(next), records: [record(next, 20)] }, sealOf(1));
    expect(outcome).toEqual({ kind: 'committed' });
    next += 1;
  };
  while (ground.inline === 0) {
    expect(next).toBeLessThan(100);
    await append();
  }
  ground.takesMs = BUDGET_MS;
  await append();
  expect(stretches).toEqual([]);
  clock.advance(60_000);
  ground.takesMs = 0;
  for (let at = 0; at < 50; at += 1) await append();
  ground.takesMs = STALL_MS;
  await append();
  expect(stretches).toEqual([['disk', STALL_MS]]);
  const { inline } = ground;
  for (let at = 0; at < 50; at += 1) await append();
  expect(ground.inline).toBe(inline);
});
