import { nodeItself, type RecoveryProgress } from '@engram/backend';
import { epoch, keyBytes, putOp } from '@engram/core';
import { StartProgress } from '@engram/member';
import { expect, test } from 'vitest';
import { ImageWorld, saveImage, type TestNode } from './node.ts';

async function fill({ store }: TestNode, keys: number): Promise<void> {
  for (let at = 0; at < keys; at += 1) {
    const op = putOp(keyBytes(`key ${at}`), keyBytes('v'.repeat(300)));
    await store.txn({ compares: [], success: [op], failure: [] }, nodeItself);
  }
}

test('a start tells how much of the image and of the log it has read, of how much', async () => {
  await using world = await ImageWorld.make();
  await using leader = await world.open(1n, undefined, epoch(1));
  await fill(leader, 30);
  await saveImage(leader);
  await fill(leader, 10);
  const told: RecoveryProgress[] = [];
  await using _node = await world.open(2n, undefined, undefined, (progress) => told.push(progress));
  const image = told.filter(({ phase }) => phase === 'image');
  const log = told.filter(({ phase }) => phase === 'log');
  expect(told).toEqual([...image, ...log]);
  const chunks = image.at(-1)!.of;
  expect(image.map(({ done }) => done)).toEqual(Array.from({ length: chunks! + 1 }, (_, at) => at));
  expect(image[0]).toMatchObject({ of: chunks, bytes: 0 });
  expect(image.at(-1)).toMatchObject({ done: chunks, bytes: image[0]!.bytesOf });
  expect(log[0]).toMatchObject({ done: 0, of: 10, bytes: 0 });
  expect(log.at(-1)).toMatchObject({ done: 10, of: 10 });
  expect(log.at(-1)!.bytes).toBeGreaterThan(10 * 300);
});

test('a start is one line for people', () => {
  const progress = new StartProgress();
  expect(`${progress}`).toBe('opening');
  progress.recovering({ phase: 'image', done: 3, of: 7, bytes: 100, bytesOf: 900 });
  expect(`${progress}`).toBe('reading the image: 3 of 7 chunks, 100 of 900 bytes');
  progress.recovering({ phase: 'log', done: 5, of: undefined, bytes: 40, bytesOf: undefined });
  expect(`${progress}`).toBe('reading the log: 5 records, 40 bytes');
  expect([...progress.read.keys()]).toEqual(['image', 'log']);
  progress.joining();
  expect(`${progress}`).toBe('joining');
  progress.serving();
  expect(progress.phase).toBe('serving');
});
