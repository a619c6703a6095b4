import { EngramError, logPosition } from '@engram/core';
import { Loop } from '@engram/loop';
import { SimClock } from '@engram/sim';
import { describe, expect, test } from 'vitest';
import { ReadIndex } from '../src/read-index.ts';

/** A node that leads, whose rounds end when the test says so. */
class Node {
  readonly clock = new SimClock();
  readonly loop = new Loop({ clock: this.clock });
  /** One for each round that has begun. */
  readonly rounds: PromiseWithResolvers<void>[] = [];
  readonly reads = new ReadIndex({
    clock: this.clock,
    loop: this.loop,
    timeoutMs: 5_000,
    leads: () => true,
    confirm: () => {
      const round = Promise.withResolvers<void>();
      this.rounds.push(round);
      return round.promise;
    },
    commitIndex: () => 0,
    remote: { ask: () => Promise.reject(new EngramError('NoLeader')) },
    recovered: logPosition(0),
  });

  /** Resolves with the number of rounds that had begun when the read was answered. */
  async read(): Promise<number> {
    await this.reads.wait();
    return this.rounds.length;
  }

  turns(count: number): Promise<void> {
    return this.clock.settle(count);
  }
}

describe('rounds of a read index', () => {
  test('a lone read waits for its own turn and no longer', async () => {
    const node = new Node();
    const read = node.read();
    expect(node.rounds).toHaveLength(0);
    await node.turns(2);
    expect(node.rounds).toHaveLength(1);
    node.rounds[0]!.resolve();
    expect(await read).toBe(1);
  });

  test('a round waits while each turn brings a read, and serves them all', async () => {
    const node = new Node();
    const reads: Promise<number>[] = [];
    for (let turn = 0; turn < 5; turn += 1) {
      reads.push(node.read(), node.read());
      await node.turns(1);
      expect(node.rounds).toHaveLength(0);
    }
    await node.turns(2);
    expect(node.rounds).toHaveLength(1);
    node.rounds[0]!.resolve();
    expect(await Promise.all(reads)).toEqual(reads.map(() => 1));
  });

  test('a round waits one millisecond at most', async () => {
    const node = new Node();
    const reads: Promise<number>[] = [];
    for (let turn = 0; node.rounds.length === 0; turn += 1) {
      expect(turn).toBeLessThan(5);
      reads.push(node.read());
      node.clock.advance(0.3);
      await node.turns(1);
    }
    expect(reads.length).toBeGreaterThanOrEqual(4);
    node.rounds[0]!.resolve();
    await Promise.all(reads);
  });

  test('a read that comes during a round waits for the next one', async () => {
    const node = new Node();
    const first = node.read();
    await node.turns(2);
    const second = node.read();
    node.rounds[0]!.resolve();
    expect(await first).toBe(1);
    await node.turns(2);
    expect(node.rounds).toHaveLength(2);
    node.rounds[1]!.resolve();
    expect(await second).toBe(2);
  });

  test('a round that fails fails its own reads only', async () => {
    const node = new Node();
    const first = node.read();
    await node.turns(2);
    const second = node.read();
    node.rounds[0]!.reject(new EngramError('Stopped'));
    await expect(first).rejects.toMatchObject({ code: 'Stopped' });
    await node.turns(2);
    node.rounds[1]!.resolve();
    expect(await second).toBe(2);
  });

  test('the reads of a round that take long begin in several turns', async () => {
    const node = new Node();
    let begun = 0;
    const reads = Array.from({ length: 100 }, () =>
      node.read().then(() => {
        begun += 1;
        node.clock.advance(2);
      }),
    );
    await node.turns(3);
    const fromMs = node.clock.nowMs();
    node.rounds[0]!.resolve();
    const beginsMs: number[] = [];
    for (let turns = 0; begun < reads.length; turns += 1) {
      expect(turns).toBeLessThan(200);
      const beganMs = node.clock.nowMs();
      await node.turns(1);
      beginsMs.push(node.clock.nowMs() - beganMs);
    }
    expect(node.clock.nowMs() - fromMs).toBe(200);
    expect(Math.max(...beginsMs)).toBeLessThanOrEqual(10);
    await Promise.all(reads);
  });

  /** A round of as many reads, which ends. */
  async function roundOf(node: Node, count: number): Promise<void> {
    const reads = Array.from({ length: count }, () => node.read());
    await node.turns(2);
    node.rounds.at(-1)!.resolve();
    await Promise.all(reads);
  }

  test('a round waits until nearly all whom the last one served have come again', async () => {
    const node = new Node();
    await roundOf(node, 10);
    const some = Array.from({ length: 8 }, () => node.read());
    await node.turns(10);
    expect(node.rounds).toHaveLength(1);
    const ninth = node.read();
    await node.turns(3);
    expect(node.rounds).toHaveLength(2);
    node.rounds[1]!.resolve();
    expect(await Promise.all([...some, ninth])).toEqual(Array.from({ length: 9 }, () => 2));
  });

  test('clients that do not come again delay a round by a millisecond from the begin of the last one at most', async () => {
    const node = new Node();
    await roundOf(node, 10);
    const alone = node.read();
    await node.turns(5);
    expect(node.rounds).toHaveLength(1);
    node.clock.advance(1);
    await node.turns(2);
    expect(node.rounds).toHaveLength(2);
    node.rounds[1]!.resolve();
    await alone;
    // The next one is not delayed: nobody else came.
    const next = node.read();
    await node.turns(2);
    expect(node.rounds).toHaveLength(3);
    node.rounds[2]!.resolve();
    await next;
  });

  test('clients that do not come again delay a round by some turns at most where the clock stands', async () => {
    const node = new Node();
    await roundOf(node, 10);
    const alone = node.read();
    await node.turns(40);
    expect(node.rounds).toHaveLength(2);
    node.rounds[1]!.resolve();
    await alone;
  });

  test('rounds that serve many are a millisecond apart, although all have come again', async () => {
    const node = new Node();
    await roundOf(node, 200);
    const reads = Array.from({ length: 200 }, () => node.read());
    await node.turns(5);
    expect(node.rounds).toHaveLength(1);
    node.clock.advance(1);
    await node.turns(2);
    expect(node.rounds).toHaveLength(2);
    node.rounds[1]!.resolve();
    await Promise.all(reads);
  });
});
