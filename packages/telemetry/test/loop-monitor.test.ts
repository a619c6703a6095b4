import { expect, test } from 'vitest';
import type { Clock } from '@engram/core';
import { LoopMonitor, MetricRegistry, type Stretch } from '@engram/telemetry';

function start(cpuSeconds?: () => number) {
  const registry = new MetricRegistry();
  const stretches: Stretch[] = [];
  let nowMs = 0;
  let fire = (): void => {};
  const clock: Clock = {
    nowMs: () => nowMs,
    wallMs: () => nowMs,
    after(_delayMs, next) {
      fire = next;
      return { cancel: () => (fire = () => {}) };
    },
    soon() {},
    giveWay() {},
    endOfTurn() {},
  };
  const monitor = new LoopMonitor(registry, {
    clock,
    budgetMs: 10,
    intervalMs: 50,
    ...(cpuSeconds === undefined ? {} : { cpuSeconds }),
    onStretch: (stretch) => stretches.push(stretch),
  });
  /** The loop comes back so much later than it should. */
  const late = (ms: number): void => {
    nowMs += 50 + ms;
    fire();
  };
  return { monitor, registry, stretches, late };
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
  let cpuSeconds = 0;
  const { monitor, stretches, late } = start(() => cpuSeconds);
  monitor.stretched('handle', 500);
  late(1000);
  expect(stretches).toEqual([]);
  cpuSeconds = 0.2;
  monitor.stretched('handle', 500);
  expect(stretches).toEqual([{ phase: 'handle', ms: 200, method: '' }]);
  late(0);
  cpuSeconds = 0.3;
  late(120);
  expect(stretches[1]).toMatchObject({ phase: 'other' });
  expect(stretches[1]?.ms).toBeCloseTo(100);
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
