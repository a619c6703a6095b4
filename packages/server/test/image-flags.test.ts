import { readConfiguration } from '@engram/server';
import { expect, test } from 'vitest';

const tikv = ['--storage=tikv', '--tikv-pd-endpoints=127.0.0.1:1'];

test('when images are written and the log is trimmed has flags', async () => {
  expect(await readConfiguration(tikv, {})).toMatchObject({
    config: {
      cluster: {
        imagePolicy: {
          everyBytesMin: 256 << 20,
          everyBytesMax: 4 * 2 ** 30,
          bytesPerSecond: 16 << 20,
          intervalMs: 5000,
        },
        memberSilentMaxMs: 600_000,
        logSegmentBytes: 64 << 20,
        safePoint: { retentionMs: 3_600_000 },
      },
    },
  });
  const flags = [
    '--image-every-bytes-min=1',
    '--image-every-bytes-max=2',
    '--image-bytes-per-second=3',
    '--image-interval=4s',
    '--log-member-timeout=5m',
    '--log-segment-bytes=65536',
    '--tikv-gc-retention=10m',
  ];
  expect(await readConfiguration([...tikv, ...flags], {})).toMatchObject({
    config: {
      cluster: {
        imagePolicy: { everyBytesMin: 1, everyBytesMax: 2, bytesPerSecond: 3, intervalMs: 4000 },
        memberSilentMaxMs: 300_000,
        logSegmentBytes: 65_536,
        safePoint: { retentionMs: 600_000 },
      },
    },
  });
});

test.each([
  {
    args: [...tikv, '--image-every-bytes-min=10', '--image-every-bytes-max=9'],
    says: '--image-every-bytes-min is above --image-every-bytes-max',
  },
  { args: [...tikv, '--image-bytes-per-second=0'], says: '--image-bytes-per-second must be at least 1' },
  { args: [...tikv, '--image-interval=10ms'], says: '--image-interval must be at least 100ms' },
  ...['--log-member-timeout=0s', '--log-member-timeout=1ms', '--log-member-timeout=14999ms'].map((flag) => ({
    args: [...tikv, flag],
    says: '--log-member-timeout must be at least three times --image-interval',
  })),
  {
    args: [...tikv, '--image-interval=5m'],
    says: '--log-member-timeout must be at least three times --image-interval',
  },
  { args: [...tikv, '--log-segment-bytes=100'], says: '--log-segment-bytes: expected 65536 to 67108864' },
  { args: [...tikv, '--log-segment-bytes=67108865'], says: '--log-segment-bytes: expected 65536 to 67108864' },
  { args: ['--image-interval=1s'], says: '--image-interval: only with --storage=tikv' },
  { args: ['inspect-storage'], says: 'inspect-storage needs --storage=tikv' },
])('is refused: $says', async ({ args, says }) => {
  await expect(readConfiguration(args, {})).rejects.toThrow(says);
});

test('a member may be silent for three intervals', async () => {
  const flags = ['--image-interval=500ms', '--log-member-timeout=1500ms'];
  expect(await readConfiguration([...tikv, ...flags], {})).toMatchObject({
    config: { cluster: { memberSilentMaxMs: 1500 } },
  });
});

test('inspect-storage takes the flags of a member', async () => {
  const configuration = await readConfiguration(['inspect-storage', ...tikv, '--tikv-prefix=a'], {});
  expect(configuration).toMatchObject({ kind: 'inspect', cluster: { prefix: 'a', pdEndpoints: ['127.0.0.1:1'] } });
  expect(await readConfiguration(['inspect-storage', '--no-such-flag'], {})).toMatchObject({ kind: 'usage' });
});
