import { AssertionError } from '@engram/core';
import { Scheduler, SimClock } from '@engram/sim';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  composeTimestamp,
  MAX_TIMESTAMP,
  type Timestamp,
  type TimestampAnswer,
  type TimestampCall,
  type TimestampError,
  TimestampOracle,
  TIMESTAMPS_MAX,
} from '../index.ts';

/** Answers only when it is told to. */
class Stream {
  readonly asked: number[] = [];
  readonly recoveries: number[] = [];
  drops = 0;
  newest: Timestamp = composeTimestamp(1_000, 0);
  #answer: ((answer: TimestampAnswer) => void) | undefined;

  ask(count: number): Promise<TimestampAnswer> {
    this.asked.push(count);
    return new Promise((resolve) => {
      this.#answer = resolve;
    });
  }

  async recover(failures: number): Promise<void> {
    this.recoveries.push(failures);
  }

  drop(): void {
    this.drops += 1;
  }

  get waits(): boolean {
    return this.#answer !== undefined;
  }

  /** Allocates a run that ends at `last`. */
  async allocate(last?: Timestamp, count = this.asked.at(-1)!): Promise<void> {
    this.newest = last ?? this.newest + BigInt(count);
    await this.answer({ kind: 'allocated', last: this.newest, count });
  }

  async answer(answer: TimestampAnswer): Promise<void> {
    const resolve = this.#answer;
    this.#answer = undefined;
    resolve?.(answer);
    await settled();
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function setUp() {
  const clock = new SimClock({ scheduler: new Scheduler() });
  const stream = new Stream();
  const fatal: string[] = [];
  const oracle = new TimestampOracle({
    stream,
    pacing: { plan: (_, send) => send(), sent: () => {} },
    clock,
    translate: (error: TimestampError) => error,
    onDealt: () => {},
    onFatal: (error) => fatal.push(error.message),
  });
  const call = (timeoutMs = 60_000, signal?: AbortSignal): TimestampCall => {
    const endMs = clock.nowMs() + timeoutMs;
    return {
      signal,
      check: () => signal?.throwIfAborted(),
      remainingMs: () => endMs - clock.nowMs(),
      late: () => new Error('late'),
      aborted: () => new Error('aborted'),
    };
  };
  const codeOf = (promise: Promise<unknown>): Promise<string> =>
    promise.then(
      () => 'no error',
      (error: Error & { readonly code?: string }) => error.code ?? error.message,
    );
  return { clock, stream, oracle, fatal, call, codeOf };
}

test('who asks while a request is under way shares the next one, in the order of the calls', async () => {
  const { stream, oracle, call } = setUp();
  const first = oracle.next(call());
  const others = [oracle.first(3, call()), oracle.next(call()), oracle.first(2, call())];
  expect(stream.asked).toEqual([1]);
  await stream.allocate(100n);
  expect(await first).toBe(100n);
  expect(stream.asked).toEqual([1, 6]);
  await stream.allocate(206n);
  expect(await Promise.all(others)).toEqual([201n, 204n, 205n]);
  expect(oracle.newest).toBe(206n);
});

test('no request asks for more than PD allocates at once, and nobody is passed over', async () => {
  const { stream, oracle, call } = setUp();
  const runs = [1, TIMESTAMPS_MAX, 5, TIMESTAMPS_MAX - 5, 1].map((count) => oracle.first(count, call()));
  for (let answer = 0; answer < 4; answer += 1) await stream.allocate();
  expect(stream.asked).toEqual([1, TIMESTAMPS_MAX, TIMESTAMPS_MAX, 1]);
  const firsts = await Promise.all(runs);
  expect(firsts).toEqual([...firsts].sort((left, right) => (left < right ? -1 : 1)));
  expect(() => oracle.first(TIMESTAMPS_MAX + 1, call())).toThrow(AssertionError);
  expect(() => oracle.first(0, call())).toThrow(AssertionError);
});

test.each([
  { what: 'the last one again', last: 500n },
  { what: 'a lower one', last: 499n },
  { what: 'a run that begins at the last one', last: 502n },
])('$what goes to nobody, also from another connection, and both values are told', async ({ last }) => {
  const { stream, oracle, fatal, call } = setUp();
  const before = oracle.next(call());
  await stream.allocate(500n);
  await before;
  const run = oracle.first(3, call());
  const refused = expect(run).rejects.toMatchObject({
    code: 'regression',
    message: expect.stringContaining(`${last - 2n} after 500`),
  });
  await stream.answer({ kind: 'lost' });
  await stream.allocate(last);
  await refused;
  expect(fatal).toEqual([]);
});

test('while the server is behind every caller is refused, and all is well again when it has passed what was allocated', async () => {
  const { stream, oracle, call, codeOf } = setUp();
  const before = oracle.next(call());
  await stream.allocate(500n);
  await before;
  for (const last of [400n, 499n, 500n]) {
    const refused = codeOf(oracle.next(call()));
    const later = codeOf(oracle.first(2, call()));
    while (stream.waits) await stream.allocate(last);
    expect(await Promise.all([refused, later])).toEqual(['regression', 'regression']);
    expect(oracle.newest).toBe(500n);
  }
  expect(stream.drops).toBe(stream.asked.length - 1); // each asks over a new stream
  const passed = oracle.next(call());
  await stream.allocate(501n);
  expect(await passed).toBe(501n);
});

test('another number of timestamps than was asked for, or a refusal, is fatal', async () => {
  for (const answer of [
    { kind: 'allocated', last: 900n, count: 2 },
    { kind: 'refused', error: new Error('refused') },
  ] as const) {
    const { stream, oracle, fatal, call, codeOf } = setUp();
    const waiting = [oracle.next(call()), oracle.next(call())].map(codeOf);
    await stream.answer(answer);
    const expected = answer.kind === 'refused' ? 'refused' : 'other-count';
    expect(await Promise.all(waiting)).toEqual([expected, expected]);
    expect(fatal).toHaveLength(1);
    expect(stream.drops).toBe(1);
  }
});

test('a lost answer costs its timestamps, not its callers: they stay before those who came later', async () => {
  const { stream, oracle, call } = setUp();
  const early = oracle.next(call());
  const late = oracle.next(call());
  await stream.answer({ kind: 'lost' });
  await stream.answer({ kind: 'lost' });
  expect(stream.recoveries).toEqual([1, 2]);
  await stream.allocate(10n);
  expect([await early, await late]).toEqual([9n, 10n]);
  const next = oracle.next(call());
  await stream.answer({ kind: 'lost' });
  expect(stream.recoveries).toEqual([1, 2, 1]);
  await stream.allocate(20n);
  expect(await next).toBe(20n);
});

test('a call ends at its deadline or its signal, whatever the stream does, and its timestamp goes to nobody', async () => {
  const { clock, stream, oracle, call, codeOf } = setUp();
  const abort = new AbortController();
  const kept = oracle.next(call());
  const ends = [oracle.next(call(200)), oracle.next(call(60_000, abort.signal))].map(codeOf);
  abort.abort();
  await clock.pass(300);
  expect(await Promise.all(ends)).toEqual(['late', 'aborted']);
  await stream.allocate(5n);
  expect(await kept).toBe(5n);
  expect(stream.asked).toEqual([1]); // nobody waits, so nothing is asked
});

test('a closed oracle ends all who wait', async () => {
  const { stream, oracle, call, codeOf } = setUp();
  const waiting = [oracle.next(call()), oracle.next(call())].map(codeOf);
  oracle.close();
  expect(await Promise.all(waiting)).toEqual(['closed', 'closed']);
  expect(stream.drops).toBe(1);
});

test('an error of the stream ends those of the request and those behind them at once', async () => {
  const { oracle, stream, call, codeOf } = setUp();
  stream.ask = () => Promise.reject(new Error('another cluster'));
  expect(await Promise.all([oracle.next(call()), oracle.next(call())].map(codeOf))).toEqual([
    'another cluster',
    'another cluster',
  ]);
});

test('ages count by the clock of the server, and the own clock only measures since its last answer', async () => {
  const { clock, stream, oracle, call } = setUp();
  expect([oracle.nowMs(), oracle.ageMs(composeTimestamp(1, 0))]).toEqual([0, 0]);
  const allocated = oracle.next(call());
  await stream.allocate(composeTimestamp(50_000, 3));
  await allocated;
  await clock.pass(2_000);
  expect(oracle.nowMs()).toBe(52_000);
  expect(oracle.ageMs(composeTimestamp(51_000, 0))).toBe(1_000);
  expect(oracle.ageMs(composeTimestamp(60_000, 0))).toBe(0);
});

test('a timestamp that is known is not asked for, one that was allocated to nobody is found out', async () => {
  const { stream, oracle, call } = setUp();
  const allocated = oracle.next(call());
  await stream.allocate(100n);
  await allocated;
  expect([oracle.isAllocated(100n, call()), oracle.isAllocated(MAX_TIMESTAMP, call())]).toEqual([true, true]);
  const answers = [oracle.isAllocated(150n, call()), oracle.isAllocated(151n, call())];
  await stream.allocate(150n);
  await stream.allocate(151n);
  expect(await Promise.all(answers)).toEqual([true, true]);
  const future = oracle.isAllocated(1_000n, call());
  await stream.allocate(200n);
  expect(await future).toBe(false);
});

const step = fc.oneof(
  fc.record({ kind: fc.constant('call' as const), count: fc.integer({ min: 1, max: 50 }) }),
  fc.record({ kind: fc.constant('allocate' as const), gap: fc.bigInt({ min: 0n, max: 1000n }) }),
  fc.record({ kind: fc.constant('lose' as const) }),
);

test('whatever is lost, runs never overlap, and rise in the order of the calls', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const { stream, oracle, call } = setUp();
      const runs: { first: Timestamp | undefined; readonly count: number }[] = [];
      for (const each of [...steps, ...Array.from({ length: 61 }, () => ({ kind: 'allocate', gap: 0n }) as const)]) {
        if (each.kind === 'call') {
          const run: (typeof runs)[number] = { first: undefined, count: each.count };
          runs.push(run);
          void oracle.first(each.count, call()).then((first) => {
            run.first = first;
          });
        } else if (stream.waits) {
          if (each.kind === 'lose') await stream.answer({ kind: 'lost' });
          else await stream.allocate(stream.newest + BigInt(stream.asked.at(-1)!) + each.gap);
        }
      }
      let end = 0n;
      for (const { first, count } of runs) {
        if (first === undefined || first < end) return false;
        end = first + BigInt(count);
      }
      return true;
    }),
    { numRuns: 100 },
  );
});
