import { type Epoch, epoch } from '@engram/core';
import { SimClock } from '@engram/sim';
import { expect, test } from 'vitest';
import { AskedLeader } from '../src/asked-leader.ts';
import { KnownLeader } from '../src/known-leader.ts';
import type { Peers } from '../src/peers.ts';

const REQUEST = new Uint8Array([1]);
const ANSWER = new Uint8Array([2]);

/** Calls to a leader that answers when the test says so. */
class Calls implements Peers {
  readonly clock = new SimClock();
  readonly leader = new KnownLeader(this.clock);
  readonly #asked = new AskedLeader(this, this.leader, this.clock);
  readonly #answers: ((answer: Uint8Array) => void)[] = [];
  readonly ended: string[] = [];

  call(): Promise<Uint8Array> {
    return new Promise((resolve) => this.#answers.push(resolve));
  }

  follow(): never {
    throw new Error('nobody follows');
  }

  ask(name: string, of: Epoch, waitMs: number): void {
    this.#asked.call({ memberId: 1n, epoch: of }, REQUEST, this.clock.nowMs() + waitMs).then(
      (answer) => this.ended.push(`${name} ${answer[0]}`),
      (error: Error) => this.ended.push(`${name} ${error.message}`),
    );
  }

  async answer(index: number): Promise<void> {
    this.#answers[index]!(ANSWER);
    await this.clock.settle(2);
  }

  async leads(of: Epoch | undefined): Promise<void> {
    this.leader.set(of === undefined ? undefined : { memberId: 1n, epoch: of });
    await this.clock.settle(2);
  }

  async pass(ms: number): Promise<void> {
    this.clock.advance(ms);
    await this.clock.settle(2);
  }
}

test('a call is lost when a later epoch has a leader, and at no other change', async () => {
  const calls = new Calls();
  await calls.leads(epoch(3));
  calls.ask('a', epoch(3), 10_000);
  calls.ask('b', epoch(3), 10_000);
  await calls.leads(undefined);
  await calls.leads(epoch(3));
  await calls.leads(epoch(2));
  expect(calls.ended).toEqual([]);
  await calls.answer(1);
  await calls.leads(epoch(4));
  expect(calls.ended).toEqual(['b 2', 'a another member leads']);
  await calls.answer(0);
  expect(calls.ended.length, 'a late answer is dropped').toBe(2);
});

test('a call is lost soon after its deadline, and one with more time is not', async () => {
  const calls = new Calls();
  await calls.leads(epoch(1));
  calls.ask('short', epoch(1), 700);
  calls.ask('long', epoch(1), 5_000);
  await calls.pass(600);
  expect(calls.ended).toEqual([]);
  await calls.pass(600);
  expect(calls.ended).toEqual(['short the leader has not answered in time']);
  await calls.answer(1);
  expect(calls.ended[1]).toBe('long 2');
});

test('nothing is held for a call that was answered', async () => {
  const calls = new Calls();
  await calls.leads(epoch(1));
  calls.ask('a', epoch(1), 60_000);
  await calls.answer(0);
  // The timer of all calls runs once more, finds none, and stops.
  await calls.pass(1_000);
  expect(calls.clock.waiting).toBe(0);
});
