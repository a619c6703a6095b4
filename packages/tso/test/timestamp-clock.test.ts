import { SimClock } from '@engram/sim';
import { expect, test } from 'vitest';
import { composeTimestamp } from '../src/timestamp.ts';
import { TimestampClock } from '../src/timestamp-clock.ts';

const BORN = 1_700_000_000_000;

test('shows the physical part of the newest timestamp, advanced by the monotonic clock', async () => {
  const clock = new SimClock();
  const time = new TimestampClock(clock);
  expect(time.wallMs(), 'before the first').toBe(0);
  await clock.advance(500);
  time.heard(composeTimestamp(BORN, 17));
  expect(time.wallMs()).toBe(BORN);
  await clock.advance(1_500);
  expect(time.wallMs()).toBe(BORN + 1_500);
  time.heard(composeTimestamp(BORN, 16));
  expect(time.wallMs(), 'an older one tells nothing').toBe(BORN + 1_500);
  time.heard(composeTimestamp(BORN + 1_200, 0));
  expect(time.wallMs(), 'PD is right').toBe(BORN + 1_200);
});
