import { SimClock } from '@engram/sim';
import { Loop } from '@engram/loop';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DeadlineWheel, type Timed } from '../src/deadline-wheel.ts';

class Entry implements Timed {
  deadlineMs: number;
  wheelPrevious: Timed | undefined;
  wheelNext: Timed | undefined;
  expiredMs: number | undefined;
  readonly #clock: SimClock;
  readonly #then: () => void;

  constructor(clock: SimClock, afterMs: number, then = (): void => {}) {
    this.#clock = clock;
    this.deadlineMs = clock.nowMs() + afterMs;
    this.#then = then;
  }

  expired(): void {
    expect(this.expiredMs).toBeUndefined();
    this.expiredMs = this.#clock.nowMs();
    this.#then();
  }
}

const step = fc.oneof(
  fc.record({ do: fc.constant('add' as const), ms: fc.oneof(fc.nat(300), fc.nat(40_000)) }),
  fc.record({ do: fc.constant('remove' as const), ms: fc.nat(100) }),
  fc.record({ do: fc.constant('pass' as const), ms: fc.oneof(fc.nat(50), fc.nat(30_000)) }),
);

test('every deadline that is not removed passes once, never early and at most two ticks late', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const clock = new SimClock();
      const wheel = new DeadlineWheel(clock, new Loop({ clock }));
      const entries: Entry[] = [];
      const removed = new Set<Entry>();
      for (const { do: what, ms } of steps) {
        if (what === 'pass') {
          clock.advance(ms);
        } else if (what === 'add') {
          const entry = new Entry(clock, ms);
          entries.push(entry);
          wheel.add(entry);
        } else {
          const entry = entries[ms % Math.max(1, entries.length)];
          if (entry === undefined) continue;
          wheel.remove(entry);
          if (entry.expiredMs === undefined) removed.add(entry);
        }
      }
      clock.advance(100_000);
      for (const entry of entries) {
        if (removed.has(entry)) {
          expect(entry.expiredMs).toBeUndefined();
        } else {
          expect(entry.expiredMs).toBeGreaterThanOrEqual(entry.deadlineMs);
          expect(entry.expiredMs).toBeLessThanOrEqual(entry.deadlineMs + 20);
        }
      }
    }),
  );
});

test('a clock that was not looked at for longer than a turn of the wheel', () => {
  const clock = new SimClock();
  const wheel = new DeadlineWheel(clock, new Loop({ clock }));
  const entries = [5, 9_000, 10_500, 25_000].map((ms) => new Entry(clock, ms));
  for (const entry of entries) wheel.add(entry);
  const stopped = clock.nowMs;
  clock.nowMs = () => stopped.call(clock) + 60_000; // the process was stopped for a minute
  clock.advance(10);
  expect(entries.map(({ expiredMs }) => expiredMs !== undefined)).toEqual([true, true, true, true]);
});

test('one that expires may remove another that is due as well, and add a new one', () => {
  const clock = new SimClock();
  const wheel = new DeadlineWheel(clock, new Loop({ clock }));
  const later = new Entry(clock, 15);
  const second = new Entry(clock, 5);
  const first = new Entry(clock, 5, () => {
    wheel.remove(second);
    wheel.add(later);
  });
  wheel.add(first);
  wheel.add(second);
  clock.advance(100);
  expect([first, second, later].map(({ expiredMs }) => expiredMs !== undefined)).toEqual([true, false, true]);
});
