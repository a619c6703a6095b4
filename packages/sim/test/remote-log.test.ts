import { epoch, logPosition, type Seal } from '@engram/core';
import { Prng, RemoteLog, Scheduler, SharedLog, SimHost, type SimProcess } from '@engram/sim';
import type { LogBatch } from '@engram/storage';
import { describe, expect, test } from 'vitest';

const seal = (number: number, holder: bigint): Seal => ({ epoch: epoch(number), holder });
const batch = (first: number, text: string): LogBatch => ({
  first: logPosition(first),
  records: [Buffer.from(text)],
});
const TIMEOUT_MS = 100;

class Node {
  readonly process: SimProcess;
  readonly log: RemoteLog;

  constructor(scheduler: Scheduler, shared: SharedLog, name: string) {
    this.process = new SimHost(scheduler, { name, random: new Prng(1) }).start();
    this.log = new RemoteLog({
      log: shared,
      process: this.process,
      random: new Prng(2),
      delayMsMax: 1,
      timeoutMs: TIMEOUT_MS,
    });
  }
}

function world(): { scheduler: Scheduler; shared: SharedLog; node: (name: string) => Node } {
  const scheduler = new Scheduler({ random: new Prng(3) });
  const shared = new SharedLog('the log');
  return { scheduler, shared, node: (name) => new Node(scheduler, shared, name) };
}

describe('the way to a shared log', () => {
  test('an append that has left arrives although its node is dead by then', async () => {
    const { scheduler, shared, node } = world();
    const { log, process } = node('one');
    await scheduler.run(log.seal(seal(1, 1n)));
    let answered = false;
    void log.append(batch(1, 'a'), seal(1, 1n)).then(() => {
      answered = true;
    });
    process.kill();
    await scheduler.pass(1000);
    expect(shared.next).toBe(2);
    expect(answered).toBe(false);
  });

  test('answers that stall come late, or too late; what they tell of has happened', async () => {
    const { scheduler, shared, node } = world();
    const { log } = node('one');
    await scheduler.run(log.seal(seal(1, 1n)));
    log.stallAnswers(TIMEOUT_MS / 2);
    const sentMs = scheduler.nowMs;
    const append = log.append(batch(1, 'a'), seal(1, 1n));
    expect(await scheduler.run(append)).toEqual({ kind: 'committed' });
    expect(scheduler.nowMs - sentMs).toBeGreaterThanOrEqual(TIMEOUT_MS / 2);
    log.stallAnswers(2 * TIMEOUT_MS);
    expect(await scheduler.run(log.append(batch(2, 'b'), seal(1, 1n)))).toMatchObject({ kind: 'uncertain' });
    expect(shared.next).toBe(3);
    log.heal();
    expect(await scheduler.run(log.seal(seal(2, 1n)))).toBe(3);
  });

  test('a paused node gets its answer when it goes on, and an uncertain one when its time was over', async () => {
    const { scheduler, node } = world();
    const { log, process } = node('one');
    await scheduler.run(log.seal(seal(1, 1n)));
    const append = log.append(batch(1, 'a'), seal(1, 1n));
    process.pause();
    await scheduler.pass(TIMEOUT_MS / 2);
    process.resume();
    expect(await scheduler.run(append)).toEqual({ kind: 'committed' });
  });

  test.each([
    { fault: 'there', next: 2, later: 2 },
    { fault: 'lost', next: 1, later: 1 },
    { fault: 'late', next: 1, later: 2 },
  ] as const)('an append without an answer is uncertain: $fault', async ({ fault, next, later }) => {
    const { scheduler, shared, node } = world();
    const { log } = node('one');
    await scheduler.run(log.seal(seal(1, 1n)));
    log.loseAppend(fault);
    const append = log.append(batch(1, 'a'), seal(1, 1n));
    if (fault === 'late') {
      await scheduler.pass(TIMEOUT_MS / 2 - 1);
      expect(shared.next).toBe(next);
    }
    expect(await scheduler.run(append)).toMatchObject({ kind: 'uncertain' });
    if (fault !== 'late') expect(shared.next).toBe(next);
    await scheduler.pass(10 * TIMEOUT_MS);
    expect(shared.next).toBe(later);
    // In each case, appending the batch again settles its outcome.
    expect(await scheduler.run(log.append(batch(1, 'a'), seal(1, 1n)))).toEqual({ kind: 'committed' });
    expect(shared.next).toBe(2);
  });

  test('what arrives behind a later seal is fenced, and what arrives twice is there once', async () => {
    const { scheduler, shared, node } = world();
    const [one, two] = [node('one'), node('two')];
    await scheduler.run(one.log.seal(seal(1, 1n)));
    await scheduler.run(one.log.append(batch(1, 'a'), seal(1, 1n)));
    one.log.stall(50);
    const late = one.log.append(batch(2, 'b'), seal(1, 1n));
    expect(await scheduler.run(two.log.seal(seal(2, 2n)))).toBe(2);
    expect(await scheduler.run(late)).toEqual({ kind: 'fenced' });
    expect(await scheduler.run(one.log.append(batch(1, 'a'), seal(1, 1n)))).toEqual({ kind: 'committed' });
    expect(shared.next).toBe(2);
  });

  test('reads and seals that fail find no storage', async () => {
    const { scheduler, node } = world();
    const { log } = node('one');
    log.failNext('seal', 1);
    await expect(scheduler.run(log.seal(seal(1, 1n)))).rejects.toThrow('has not answered: seal');
    await scheduler.run(log.seal(seal(1, 1n)));
    log.failNext('read', 1);
    const first = (): Promise<unknown> => log.read(logPosition(1), new AbortController().signal).next();
    await expect(scheduler.run(first())).rejects.toThrow('has not answered: read');
    expect(await scheduler.run(first())).toMatchObject({ done: true });
  });
});
