import { expect, test } from 'vitest';
import type { Logger } from '@engram/core';
import { SimClock } from '@engram/sim';
import { ClientLog } from '@engram/telemetry';

function start(): { log: ClientLog; clock: SimClock; lines: string[] } {
  const clock = new SimClock();
  const lines: string[] = [];
  const line = (fields: object, message: string): void => void lines.push(`${message} ${JSON.stringify(fields)}`);
  const logger: Logger = { debug: line, info: line, warn: line, error: line };
  return { log: new ClientLog(logger, clock), clock, lines };
}

test('ten lines of one text in a second, then how many were left out', () => {
  const { log, clock, lines } = start();
  for (let at = 0; at < 20_000; at += 1) log.info({ at }, 'odd request');
  log.warn({}, 'another');
  expect(lines).toHaveLength(11);
  clock.advance(1000);
  log.info({ at: 1 }, 'odd request');
  log.info({ at: 2 }, 'odd request');
  expect(lines.slice(11)).toEqual(['odd request {"at":1,"omitted":19990}', 'odd request {"at":2}']);
});

test('texts that clients choose are cut, and errors are bounded as well', () => {
  const { log, lines } = start();
  log.warn({ host: 'h'.repeat(60_000), code: 7 }, 'rejected');
  expect(lines[0]?.length).toBeLessThan(1_100);
  expect(lines[0]).toContain('"code":7');
  for (let at = 0; at < 100; at += 1) log.error({ error: 'e'.repeat(60_000) }, 'ours');
  expect(lines).toHaveLength(11);
  expect(lines[1]?.length).toBeLessThan(1_100);
});
