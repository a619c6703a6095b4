import { describe, expect, test } from 'vitest';
import { FlagValues } from '../src/flags/flag-values.ts';
import { flagTable } from '../src/flags/flag-table.ts';
import { type MemoryBounds, memoryBounds } from '../src/config/memory-plan.ts';

const MiB = 1024 * 1024;
const GiB = 1024 * MiB;
const machineBytes = 16 * GiB;

function boundsOf(
  flags: Readonly<Record<string, number>>,
  constrainedBytes = 0,
  warnings: string[] = [],
  isSecure = false,
): MemoryBounds {
  const values = new FlagValues();
  for (const [name, value] of Object.entries(flags)) values.set(flagTable.get(name)!, String(value));
  return memoryBounds(values, warnings, isSecure, constrainedBytes, machineBytes);
}

const defaults = {
  limitBytes: undefined,
  requestBytes: 512 * MiB,
  answerBytes: 512 * MiB,
  streams: 262_144,
  connections: undefined,
  watcherBytes: 512 * MiB,
  logQueueBytes: 256 * MiB,
  watchBacklogBytes: 32 * MiB,
  valueCacheBytes: 128 * MiB,
  localValuesBytes: 256 * MiB,
  copyQueueBytes: 64 * MiB,
  copyCacheBytes: 24 * MiB,
  followerFeedBytes: 32 * MiB,
  leases: 1_000_000,
  imagesBytes: 256 * MiB,
};

test('without a limit the bounds are the defaults of their flags', () => {
  expect(boundsOf({})).toEqual(defaults);
});

test.each([
  { constrainedBytes: 0, why: 'node knows of none' },
  { constrainedBytes: 2 ** 64, why: 'a control group of version 1 without one' },
  { constrainedBytes: machineBytes, why: 'all of the machine' },
])('$constrainedBytes bytes are no limit: $why', ({ constrainedBytes }) => {
  expect(boundsOf({}, constrainedBytes)).toEqual(defaults);
});

test('a limit gives each its share of what the node does not need for itself', () => {
  const bounds = boundsOf({ 'memory-limit': 480 * MiB });
  expect(bounds).toEqual({
    limitBytes: 480 * MiB,
    requestBytes: 40 * MiB,
    answerBytes: 40 * MiB,
    streams: 5_120,
    connections: 2_560,
    watcherBytes: 10 * MiB,
    logQueueBytes: 20 * MiB,
    watchBacklogBytes: 10 * MiB,
    valueCacheBytes: 40 * MiB,
    localValuesBytes: 30 * MiB,
    copyQueueBytes: 20 * MiB,
    copyCacheBytes: 10 * MiB,
    followerFeedBytes: 10 * MiB,
    leases: 40_960,
    imagesBytes: 10 * MiB,
  });
  const constrainedBytes = Math.ceil((480 * MiB * 8) / 7);
  expect(boundsOf({}, constrainedBytes)).toEqual(bounds);
  expect(boundsOf({}, constrainedBytes, [], true)).toEqual({ ...bounds, connections: 640 });
});

test('an eighth of a control group stays as room', () => {
  expect(boundsOf({}, 800 * MiB).limitBytes).toBe(700 * MiB);
  expect(boundsOf({ 'memory-limit': 800 * MiB }).limitBytes).toBe(800 * MiB);
});

test('a large limit raises nothing', () => {
  expect(boundsOf({ 'memory-limit': 64 * GiB })).toEqual({ ...defaults, limitBytes: 64 * GiB, connections: 523_008 });
});

test('the flag counts, not the control group; a negative one is no limit', () => {
  expect(boundsOf({ 'memory-limit': 1 * GiB }, 480 * MiB).limitBytes).toBe(1 * GiB);
  expect(boundsOf({ 'memory-limit': -1 }, 480 * MiB)).toEqual(defaults);
});

test.each([
  ['max-received-bytes', 'requestBytes'],
  ['max-answer-bytes', 'answerBytes'],
  ['max-streams', 'streams'],
  ['max-watcher-bytes', 'watcherBytes'],
  ['max-leases', 'leases'],
  ['log-queue-bytes', 'logQueueBytes'],
  ['watch-backlog-bytes', 'watchBacklogBytes'],
  ['value-cache-bytes', 'valueCacheBytes'],
  ['local-values-bytes', 'localValuesBytes'],
  ['copy-queue-bytes', 'copyQueueBytes'],
  ['copy-cache-bytes', 'copyCacheBytes'],
  ['follower-feed-bytes', 'followerFeedBytes'],
] as const)('--%s stands beside a limit', (flag, bound) => {
  expect(boundsOf({ 'memory-limit': 480 * MiB, [flag]: 600 * MiB })[bound]).toBe(600 * MiB);
});

test('for every limit an eighth is left for the index and for what waits to be collected', () => {
  for (let limit = 256 * MiB; limit < 8 * GiB; limit = Math.floor(limit * 1.1)) {
    const { limitBytes: _limit, streams, leases, connections = 0, ...bounds } = boundsOf({ 'memory-limit': limit });
    const { localValuesBytes, copyQueueBytes, copyCacheBytes, ...common } = bounds;
    const counted = 2048 * streams + 512 * leases + 16_384 * connections;
    const held = Object.values(common).reduce((sum, each) => sum + each, counted);
    const most = ((limit - 160 * MiB) * 7) / 8;
    expect(held + localValuesBytes, 'values in memory').toBeLessThanOrEqual(most);
    expect(held + copyQueueBytes + copyCacheBytes, 'a copy on the disk').toBeLessThanOrEqual(most);
  }
});

describe('what a node cannot live with', () => {
  test('a limit that is too low', () => {
    expect(() => boundsOf({ 'memory-limit': 100 * MiB })).toThrow(
      '--memory-limit=104857600: a node needs at least 268435456 bytes',
    );
  });

  test.each([100 * MiB, 292 * MiB])(
    'a control group of %i bytes is warned of, and the bounds are the least',
    (bytes) => {
      const warnings: string[] = [];
      expect(boundsOf({}, bytes, warnings)).toEqual(boundsOf({ 'memory-limit': 256 * MiB }));
      expect(warnings).toEqual([`the control group allows ${bytes} bytes of memory: a node needs at least 306783379`]);
    },
  );

  test('a control group that allows as much as is needed is not warned of', () => {
    const warnings: string[] = [];
    expect(boundsOf({}, 306_783_379, warnings).limitBytes).toBe(256 * MiB);
    expect(warnings).toEqual([]);
  });

  test.each([
    'max-received-bytes',
    'max-answer-bytes',
    'max-streams',
    'max-watcher-bytes',
    'max-leases',
    'log-queue-bytes',
  ])('--%s=0', (flag) => {
    expect(() => boundsOf({ [flag]: 0 })).toThrow(`--${flag} must be above 0`);
  });
});
