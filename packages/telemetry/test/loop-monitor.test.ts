import { expect, test } from 'vitest';
import type { Clock } from '@engram/core';
import { LoopMonitor, MetricRegistry, observeCollections, type Stretch } from '@engram/telemetry';
import { commonMs, freeSpans, lastOf, type TimeSpan } from '../src/time-span.ts';

function start(cpuMs?: () => number, observesPauses = false) {
  const registry = new MetricRegistry();
  const stretches: Stretch[] = [];
  let nowMs = 0;
  let idleMs = 0;
  let fire = (): void => {};
  let take = (_pause: TimeSpan): void => {};
  const soon: (() => void)[] = [];
  const clock: Clock = {
    nowMs: () => nowMs,
    wallMs: () => nowMs,
    after(_delayMs, next) {
      fire = next;
      return { cancel: () => (fire = () => {}) };
    },
    soon: (next) => void soon.push(next),
    endOfTurn() {},
  };
  const monitor = new LoopMonitor(registry, {
    clock,
    budgetMs: 10,
    intervalMs: 50,
    ...(cpuMs === undefined ? {} : { usage: () => ({ cpuMs: cpuMs(), idleMs }) }),
    ...(observesPauses
      ? {
          observePauses: (next: (pause: TimeSpan) => void) => {
            take = next;
            return { [Symbol.dispose]() {} };
          },
        }
      : {}),
    onStretch: (stretch) => stretches.push(stretch),
  });
  /** Fires the timer this many milliseconds late. */
  const late = (ms: number): void => {
    nowMs += 50 + ms;
    idleMs += 50;
    fire();
  };
  /** Work takes this long. */
  const work = (ms: number): void => {
    nowMs += ms;
  };
  /** The collector pauses the thread for the next `ms`. The pause is reported two turns later. */
  const pause = (ms: number): void => {
    const span = { fromMs: nowMs, toMs: nowMs + ms };
    nowMs += ms;
    soon.push(() => void soon.push(() => take(span)));
  };
  /** Fires the timer. */
  const look = (): void => fire();
  const turn = (): void => {
    for (const next of soon.splice(0)) next();
  };
  return { monitor, registry, stretches, late, work, pause, look, turn };
}

test('what was told has its phase and method, and is not told twice', () => {
  const { monitor, stretches, late } = start();
  monitor.began('/other.Method');
  monitor.stretched('handle', 30, '/some.Method');
  late(35);
  expect(stretches).toEqual([{ phase: 'handle', ms: 30, method: '/some.Method' }]);
});

test('what nobody told is blamed on the call that began last', () => {
  const { monitor, stretches, late } = start();
  monitor.began('/some.Method');
  late(5);
  late(80);
  monitor.stretched('send', 20);
  late(70);
  expect(stretches).toEqual([
    { phase: 'other', ms: 80, method: '/some.Method' },
    { phase: 'send', ms: 20, method: '' },
    { phase: 'other', ms: 50, method: '/some.Method' },
  ]);
});

test('where CPU time counts, a machine that is busy with other things is nobody\u2019s fault', () => {
  let cpuMs = 0;
  const { monitor, stretches, late, work } = start(() => cpuMs);
  work(500);
  monitor.stretched('handle', 500);
  late(500);
  expect(stretches).toEqual([]);
  // The thread ran, but for less time than the work took.
  work(500);
  cpuMs += 200;
  monitor.stretched('handle', 500);
  expect(stretches).toEqual([{ phase: 'handle', ms: 200, method: '' }]);
  late(0);
  cpuMs += 100;
  late(120);
  expect(stretches[1]).toEqual({ phase: 'other', ms: 100, method: '' });
  // Each of four pieces of work on half a core counts with half its own duration, not with half the total.
  for (let piece = 0; piece < 4; piece += 1) {
    work(16);
    cpuMs += 8;
    monitor.stretched('frames', 16);
  }
  expect(stretches.length).toBe(2);
});

test('pauses of the collector do not count for who was working', () => {
  const { monitor, stretches, work, pause, look, turn } = start(undefined, true);
  work(50);
  work(12);
  pause(20);
  monitor.stretched('handle', 32, '/some.Method');
  look();
  expect(stretches).toEqual([]); // the pause is not reported yet
  for (let turns = 0; turns < 3; turns += 1) turn();
  expect(stretches).toEqual([{ phase: 'handle', ms: 12, method: '/some.Method' }]);
});

test('a collection that waits for its helpers takes no CPU time away from who was working beside it', () => {
  let cpuMs = 0;
  const { monitor, stretches, work, pause, turn } = start(() => cpuMs, true);
  work(40);
  pause(40);
  cpuMs += 40 + 10;
  monitor.stretched('handle', 80, '/some.Method');
  for (let turns = 0; turns < 3; turns += 1) turn();
  // Of 80 ms 50 are CPU time; nobody tells how much of it is the collector's.
  expect(stretches).toEqual([{ phase: 'handle', ms: 25, method: '/some.Method' }]);
});

test('a stretch that only the collector made too long is its', () => {
  const { monitor, stretches, work, pause, look, turn } = start(undefined, true);
  monitor.began('/some.Method');
  work(50);
  pause(4);
  work(9);
  pause(5);
  look();
  for (let turns = 0; turns < 3; turns += 1) turn();
  expect(stretches).toEqual([{ phase: 'gc', ms: 18, method: '/some.Method' }]);
});

test('a pause is taken off once: from who was told of it, not from what nobody told', () => {
  const { monitor, stretches, work, pause, look, turn } = start(undefined, true);
  work(50);
  pause(8);
  work(22);
  monitor.stretched('handle', 30, '/some.Method');
  work(15);
  // Around the call above, whose time is excluded.
  monitor.stretched('frames', 15);
  work(12);
  look();
  for (let turns = 0; turns < 3; turns += 1) turn();
  expect(stretches).toEqual([
    { phase: 'handle', ms: 22, method: '/some.Method' },
    { phase: 'frames', ms: 15, method: '' },
    { phase: 'other', ms: 12, method: '' },
  ]);
});

test('pauses are told, with their time', async () => {
  const pauses: TimeSpan[] = [];
  const fromMs = performance.now();
  using observing = observeCollections((pause) => pauses.push(pause));
  expect(observing).toBeDefined();
  const held: unknown[] = [];
  while (pauses.length === 0) {
    for (let at = 0; at < 10_000; at += 1) held[at % 1000] = { at: new Array(100).fill(at) };
    await new Promise((resolve) => setImmediate(resolve));
  }
  const toMs = performance.now();
  for (const pause of pauses) {
    expect(pause.fromMs).toBeGreaterThanOrEqual(fromMs);
    expect(pause.toMs).toBeGreaterThan(pause.fromMs);
    expect(pause.toMs).toBeLessThanOrEqual(toMs);
  }
});

test('spans: what is free, the last of it, and what two have in common', () => {
  const taken = [
    { fromMs: 30, toMs: 40 },
    { fromMs: 10, toMs: 20 },
    { fromMs: 15, toMs: 25 },
  ];
  const free = freeSpans(5, 50, taken);
  expect(free).toEqual([
    { fromMs: 5, toMs: 10 },
    { fromMs: 25, toMs: 30 },
    { fromMs: 40, toMs: 50 },
  ]);
  expect(freeSpans(12, 18, taken)).toEqual([]);
  expect(lastOf(free, 12)).toEqual([
    { fromMs: 28, toMs: 30 },
    { fromMs: 40, toMs: 50 },
  ]);
  expect(lastOf(free, 100)).toEqual(free);
  expect(commonMs(free, [{ fromMs: 8, toMs: 45 }])).toBe(2 + 5 + 5);
});

test('the metrics name the culprits, so many at most', async () => {
  const { monitor, registry } = start();
  monitor.stretched('handle', 30, '/some.Method');
  monitor.stretched('handle', 20, '/some.Method');
  for (let at = 0; at < 1_000; at += 1) monitor.stretched('phase', 11, `/method.${at}`);
  const { text } = await registry.render();
  expect(text).toContain('engram_loop_stretches_total{phase="handle",method="/some.Method"} 2');
  expect(text).toContain('engram_loop_stretch_seconds_total{phase="handle",method="/some.Method"} 0.05');
  expect(text).toContain('engram_loop_longest_stretch_seconds{phase="handle",method="/some.Method"} 0.03');
  expect(text).toContain('engram_loop_stretches_total{phase="other",method="other"} 745');
});
