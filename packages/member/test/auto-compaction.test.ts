import { SimClock } from '@engram/sim';
import { expect, test } from 'vitest';
import { EngramError, type ErrorCode, type Logger, revision } from '@engram/core';
import { startAutoCompaction } from '../src/auto-compaction.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** A store that records the minute and the revision of each compaction. Each minute makes ten revisions. */
class MinuteStore {
  readonly compactions: { readonly minute: number; readonly revision: number }[] = [];
  readonly #clock: SimClock;
  failure: ErrorCode | undefined;

  constructor(clock: SimClock) {
    this.#clock = clock;
  }

  get revision() {
    return revision(1 + Math.floor(this.#clock.nowMs() / MINUTE_MS) * 10);
  }

  async compact(at: number): Promise<void> {
    this.compactions.push({ minute: this.#clock.nowMs() / MINUTE_MS, revision: at });
    if (this.failure !== undefined) throw new EngramError(this.failure);
  }
}

function bed() {
  const clock = new SimClock();
  const warnings: string[] = [];
  const nothing = (): void => {};
  const logger: Logger = {
    debug: nothing,
    info: nothing,
    warn: (_fields, text) => warnings.push(text),
    error: nothing,
  };
  return { clock, store: new MinuteStore(clock), leads: () => true, logger, warnings };
}

// Revisions are noted each tenth of the period, and the last eleven are kept. The newest one is a tenth of a period old at
// each check, so the oldest is eleven tenths old, as etcd's test of its compactor expects (v3compactor/periodic_test.go).
test('an hour: the first compaction after a whole hour, then each hour, to the oldest note', async () => {
  const { clock, store, leads, logger } = bed();
  using _compaction = startAutoCompaction({ mode: 'periodic', periodMs: HOUR_MS }, { clock, store, leads, logger });
  await clock.pass(3 * HOUR_MS);
  expect(store.compactions).toEqual([
    { minute: 60, revision: 1 },
    { minute: 120, revision: 541 },
    { minute: 180, revision: 1141 },
  ]);
});

test('a day: the first after a day, then each hour', async () => {
  const { clock, store, leads, logger } = bed();
  using _compaction = startAutoCompaction(
    { mode: 'periodic', periodMs: 24 * HOUR_MS },
    { clock, store, leads, logger },
  );
  await clock.pass(26 * HOUR_MS);
  expect(store.compactions).toEqual([
    { minute: 24 * 60, revision: 1 },
    { minute: 25 * 60, revision: 541 },
    { minute: 26 * 60, revision: 1141 },
  ]);
});

test('ten minutes: each ten minutes', async () => {
  const { clock, store, leads, logger } = bed();
  using _compaction = startAutoCompaction(
    { mode: 'periodic', periodMs: 10 * MINUTE_MS },
    { clock, store, leads, logger },
  );
  await clock.pass(30 * MINUTE_MS);
  expect(store.compactions).toEqual([
    { minute: 10, revision: 1 },
    { minute: 20, revision: 91 },
    { minute: 30, revision: 191 },
  ]);
});

test('a compaction that fails is tried again a tenth of the period later, one that others made counts as done', async () => {
  const { clock, store, leads, logger, warnings } = bed();
  using _compaction = startAutoCompaction(
    { mode: 'periodic', periodMs: 10 * MINUTE_MS },
    { clock, store, leads, logger },
  );
  store.failure = 'Timeout';
  await clock.pass(10 * MINUTE_MS);
  store.failure = 'Compacted';
  await clock.pass(10 * MINUTE_MS);
  expect(store.compactions).toEqual([
    { minute: 10, revision: 1 },
    { minute: 11, revision: 1 },
  ]);
  expect(warnings).toEqual(['failed auto periodic compaction']);
});

test('by revision: each five minutes to what is left of the newest, and not twice to the same', async () => {
  const { clock, store, leads, logger } = bed();
  using _compaction = startAutoCompaction({ mode: 'revision', revisions: 71 }, { clock, store, leads, logger });
  await clock.pass(16 * MINUTE_MS);
  expect(store.compactions).toEqual([
    { minute: 10, revision: 30 },
    { minute: 15, revision: 80 },
  ]);
});

test.each([{ mode: 'off' } as const, { mode: 'periodic', periodMs: HOUR_MS } as const])(
  '$mode leaves nothing behind when it is disposed',
  async (retention) => {
    const { clock, store, leads, logger } = bed();
    startAutoCompaction(retention, { clock, store, leads, logger })[Symbol.dispose]();
    expect(clock.waiting).toBe(0);
    await clock.pass(3 * HOUR_MS);
    expect(store.compactions).toEqual([]);
  },
);
