import type { Replica } from '@engram/backend';
import { logPosition } from '@engram/core';
import { SimClock } from '@engram/sim';
import { expect, test } from 'vitest';
import { AppliedPositions } from '../src/applied-positions.ts';

/** A node that has applied what the test says. */
class Node {
  readonly clock = new SimClock();
  readonly replica = { applied: logPosition(10) };
  readonly positions = new AppliedPositions(this.replica as Replica, this.clock);
  readonly ended: string[] = [];

  reach(next: number, waitMs: number): void {
    this.positions.reach(logPosition(next), waitMs)?.then(
      () => this.ended.push(`${next} reached`),
      (error: Error & { code?: string }) => this.ended.push(`${next} ${error.code}`),
    );
  }

  async apply(upTo: number): Promise<void> {
    this.replica.applied = logPosition(upTo);
    this.positions.advanced();
    await this.clock.settle(2);
  }

  async pass(ms: number): Promise<void> {
    this.clock.advance(ms);
    await this.clock.settle(2);
  }
}

test('a position that is applied needs no wait', () => {
  const node = new Node();
  expect(node.positions.reach(logPosition(10), 1_000)).toBeUndefined();
  expect(node.positions.reach(logPosition(11), 1_000)).toBeInstanceOf(Promise);
});

test('callers go on once their own position is applied, in any order', async () => {
  const node = new Node();
  for (const next of [14, 12, 13]) node.reach(next, 1_000);
  await node.apply(11);
  expect(node.ended).toEqual([]);
  await node.apply(13);
  expect(node.ended).toEqual(['12 reached', '13 reached']);
  await node.apply(20);
  expect(node.ended).toEqual(['12 reached', '13 reached', '14 reached']);
});

test('a caller gives up at its deadline, not before and at most a tenth of a second later', async () => {
  const node = new Node();
  node.reach(11, 5_000);
  node.reach(12, 50);
  node.reach(13, 250);
  await node.pass(49);
  expect(node.ended).toEqual([]);
  await node.pass(101);
  expect(node.ended).toEqual(['12 TimeoutWaitAppliedIndex']);
  await node.pass(90);
  expect(node.ended).toHaveLength(1);
  await node.pass(110);
  expect(node.ended.slice(1)).toEqual(['13 TimeoutWaitAppliedIndex']);
  await node.pass(4_750);
  expect(node.ended.slice(2)).toEqual(['11 TimeoutWaitAppliedIndex']);
});

test('a node that closes lets nobody wait', async () => {
  const node = new Node();
  node.reach(11, 1_000);
  node.positions.close();
  await node.pass(2_000);
  expect(node.ended).toEqual(['11 Stopped']);
});
