import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { SimClock } from '@engram/sim';
import { expect, test } from 'vitest';
import { MemoryGuard } from '../src/memory-guard.ts';

const MiB = 1024 * 1024;
const limitBytes = 400 * MiB;

/** A process whose resident memory is `used.mib`, and `held` behind each collection, which takes `collectMs`. */
function guarded(held: number, collectMs = 20) {
  const clock = new SimClock();
  const used = { mib: 0 };
  const collectedAt: number[] = [];
  const told: string[] = [];
  const guard = new MemoryGuard({
    clock,
    limitBytes,
    residentBytes: () => used.mib * MiB,
    collect: () => {
      collectedAt.push(clock.nowMs());
      clock.advance(collectMs);
      used.mib = held;
    },
    watch: { stretched: (phase, ms) => void told.push(`${phase} ${ms}`) },
  });
  const after = (mib: number, ms: number): number => {
    used.mib = mib;
    clock.advance(ms);
    return collectedAt.length;
  };
  return { clock, guard, after, collectedAt, told };
}

test('nothing is collected below three quarters of the limit, and all garbage from there on', () => {
  const { after, told } = guarded(150);
  expect(after(299, 10_000)).toBe(0);
  expect(told).toEqual([]);
  expect(after(300, 100)).toBe(1);
  expect(told, 'whose time it was').toEqual(['gc 20']);
  expect(after(299, 10_000)).toBe(1);
  expect(after(300, 100)).toBe(2);
});

test('what is still resident is held: the next collection is due a quarter of the way to the limit', () => {
  const { after } = guarded(320);
  expect(after(330, 100)).toBe(1);
  expect(after(339, 10_000)).toBe(1);
  expect(after(340, 100)).toBe(2);
});

test('what was held and is not any more does not keep the next collection away', () => {
  const { after } = guarded(360);
  expect(after(380, 100)).toBe(1);
  expect(after(200, 1_000)).toBe(1);
  expect(after(300, 100)).toBe(2);
});

test('above the limit, where nothing can be given back, a collection is due behind 16 MiB', () => {
  const { after } = guarded(500);
  expect(after(500, 100)).toBe(1);
  expect(after(515, 60_000)).toBe(1);
  expect(after(516, 100)).toBe(2);
});

test.each([
  { collectMs: 20, restMs: 250 },
  { collectMs: 100, restMs: 900 },
])(
  'behind a collection of $collectMs ms the next one comes after $restMs ms at the earliest',
  ({ collectMs, restMs }) => {
    const { after, collectedAt } = guarded(390, collectMs);
    for (let mib = 400; mib < 4_000; mib += 50) after(mib, 100);
    const rests = collectedAt.slice(1).map((at, index) => at - collectedAt[index]! - collectMs);
    expect(rests.length).toBeGreaterThan(3);
    expect(Math.min(...rests)).toBeGreaterThanOrEqual(restMs);
    expect(Math.max(...rests)).toBeLessThan(restMs + 200);
  },
);

test.each([
  { collectMs: 100, fromMib: 300 },
  { collectMs: 101, fromMib: 375 },
])('behind a collection of $collectMs ms the next one is due at $fromMib of 400 MiB', ({ collectMs, fromMib }) => {
  const { after } = guarded(150, collectMs);
  expect(after(300, 100)).toBe(1);
  expect(after(fromMib - 1, 10_000)).toBe(1);
  expect(after(fromMib, 100)).toBe(2);
});

test('it ends with its owner', () => {
  const { clock, guard, after } = guarded(150);
  guard[Symbol.dispose]();
  expect(clock.waiting).toBe(0);
  expect(after(400, 1_000)).toBe(0);
});

/** A process that fills 100 MiB of its heap, forgets that, and collects. */
const script = `
  const { garbageCollector } = await import(process.argv[1]);
  const residentMemory = () => process.memoryUsage.rss();
  const collect = garbageCollector();
  let held = [];
  for (let at = 0; at < 1_500_000; at += 1) held.push({ at, text: 'x' + at });
  const full = residentMemory();
  held = undefined;
  collect();
  console.log(full - residentMemory());
`;

test('a collection gives the pages that were free back to the system', () => {
  const flags = ['--min-semi-space-size=8', '--max-semi-space-size=8', '--initial-old-space-size=128'];
  const file = join(import.meta.dirname, '../src/collect-garbage.ts');
  const given = execFileSync(process.execPath, [...flags, '--input-type=module', '--eval', script, file]);
  expect(Number(given.toString())).toBeGreaterThan(60 * MiB);
});
