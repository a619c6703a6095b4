import { expect, test } from 'vitest';
import { type Job, Loop, TURN_MS } from '@engram/loop';

/* What one connection leaves to another one, on a loop whose time is that of the work. */

const KEY_MS = 0.0003;
const LIST_KEYS = 10_000;
const ARRIVAL_MS = 0.05;

/** An event loop. Its time moves by the work, and by a little in each turn, so that it never stands still. */
class Machine {
  nowMs = 0;
  readonly loop: Loop;
  #due: (() => void)[] = [];
  #arrivals: { readonly atMs: number; readonly arrive: () => void }[] = [];

  constructor() {
    this.loop = new Loop({ clock: { nowMs: () => this.nowMs, soon: (fire) => void this.#due.push(fire) } });
  }

  after(ms: number, arrive: () => void): void {
    this.#arrivals.push({ atMs: this.nowMs + ms, arrive });
  }

  async runFor(ms: number): Promise<void> {
    for (const endMs = this.nowMs + ms; this.nowMs < endMs; ) {
      const due = this.#due;
      this.#due = [];
      for (const fire of due) {
        fire();
        for (let microtasks = 0; microtasks < 8; microtasks += 1) await Promise.resolve();
      }
      const arrivals = this.#arrivals.filter(({ atMs }) => atMs <= this.nowMs);
      this.#arrivals = this.#arrivals.filter(({ atMs }) => atMs > this.nowMs);
      for (const { arrive } of arrivals) arrive();
      for (let microtasks = 0; microtasks < 8; microtasks += 1) await Promise.resolve();
      this.nowMs += 0.01;
    }
  }
}

/** A connection that has so many lists in flight. Its frames are taken as the intake of a real one takes them. */
class Connection {
  listed = 0;
  /** Keys that it has had, also of lists that are not complete. */
  keysHad = 0;
  readonly latencies: number[] = [];
  readonly #machine: Machine;
  readonly #keys: number;
  readonly #pauseMs: number;
  /** When the requests that have arrived and have not begun were sent. */
  readonly #arrived: number[] = [];
  #waits = false;

  constructor(machine: Machine, lists: number, keys: number, pauseMs = 0) {
    this.#machine = machine;
    this.#keys = keys;
    this.#pauseMs = pauseMs;
    for (let at = 0; at < lists; at += 1) this.#send();
  }

  #send(): void {
    const sentMs = this.#machine.nowMs + this.#pauseMs;
    this.#machine.after(this.#pauseMs + ARRIVAL_MS, () => {
      this.#arrived.push(sentMs);
      if (this.#waits) return;
      if (this.#machine.loop.transport.framesSpent) this.#wait();
      else this.#take();
    });
  }

  #wait(): void {
    this.#waits = true;
    this.#machine.loop.transport.waitForFrames(() => {
      this.#waits = false;
      this.#take();
    });
  }

  #take(): void {
    const { loop } = this.#machine;
    const startMs = this.#machine.nowMs;
    const endMs = startMs + loop.transport.frameSliceMs;
    while (this.#arrived.length > 0 && this.#machine.nowMs < endMs) void this.#list(this.#arrived.shift()!);
    loop.transport.spendOnFrames(this.#machine.nowMs - startMs);
    if (this.#arrived.length > 0) this.#wait();
  }

  async #list(sentMs: number): Promise<void> {
    const { loop } = this.#machine;
    const listing = loop.run({ work: 'client', caller: this, stage: 'range' }, this.#listing());
    if (listing !== undefined) await listing;
    this.listed += 1;
    this.latencies.push(this.#machine.nowMs - sentMs);
    this.#send();
  }

  *#listing(): Job<void> {
    for (let key = 0; key < this.#keys; key += 20) {
      this.#machine.nowMs += 20 * KEY_MS;
      this.keysHad += 20;
      if (this.#machine.loop.shouldYield(20)) yield;
    }
  }
}

const p99 = (values: readonly number[]): number =>
  values.toSorted((left, right) => left - right)[Math.ceil(0.99 * values.length) - 1]!;

async function modestBeside(lists: number): Promise<Connection> {
  const machine = new Machine();
  if (lists > 0) new Connection(machine, lists, LIST_KEYS);
  await machine.runFor(200);
  const modest = new Connection(machine, 1, 50, 5);
  await machine.runFor(3000);
  return modest;
}

test('a modest connection waits for a turn of the loop, however much a greedy one has in flight', async () => {
  const [alone, beside10, beside1000] = [await modestBeside(0), await modestBeside(10), await modestBeside(1000)];
  expect(alone.listed).toBeGreaterThan(400);
  expect(beside1000.listed).toBeGreaterThan(200);
  expect(p99(alone.latencies)).toBeLessThan(1);
  expect(p99(beside1000.latencies)).toBeLessThan(p99(alone.latencies) + TURN_MS);
  expect(p99(beside1000.latencies)).toBeLessThan(1.5 * p99(beside10.latencies));
});

test.each([
  { one: { lists: 1000, keys: LIST_KEYS }, other: { lists: 1000, keys: LIST_KEYS } },
  { one: { lists: 1000, keys: LIST_KEYS }, other: { lists: 20, keys: LIST_KEYS } },
  { one: { lists: 1000, keys: LIST_KEYS }, other: { lists: 100, keys: 10 * LIST_KEYS } },
])(
  'two greedy connections have equal shares: $one.lists lists of $one.keys, $other.lists of $other.keys',
  async (both) => {
    const machine = new Machine();
    const [one, other] = [both.one, both.other].map(({ lists, keys }) => new Connection(machine, lists, keys));
    // Until all of them have begun.
    await machine.runFor(5000);
    const before = [one!.keysHad, other!.keysHad];
    await machine.runFor(6000);
    const had = [one!.keysHad - before[0]!, other!.keysHad - before[1]!];
    expect(Math.max(...had) / Math.min(...had)).toBeLessThan(1.1);
  },
);
