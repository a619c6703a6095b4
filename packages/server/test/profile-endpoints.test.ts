import { type ProfileFormat, ProfilerBusy } from '@engram/telemetry';
import { beforeEach, expect, test } from 'vitest';
import { PROFILES_PATH, profilesEndpoint } from '../src/http/profile-endpoints.ts';

/* What is asked of the profiler, and what its answers become. profiles.test.ts has the profiles of a real process. */

interface Asked {
  readonly seconds: number | undefined;
  readonly format: ProfileFormat;
  readonly signal: AbortSignal;
}

let asked: Asked[];
let answer: () => Promise<Uint8Array | undefined>;
const bytes = Uint8Array.of(1, 2, 3);
beforeEach(() => {
  asked = [];
  answer = () => Promise.resolve(bytes);
});

const endpoint = profilesEndpoint({
  cpu: (seconds, format, signal) => {
    asked.push({ seconds, format, signal });
    return answer();
  },
  heap: async (format, signal) => {
    asked.push({ seconds: undefined, format, signal });
    return (await answer()) ?? new Uint8Array(0);
  },
});
const client = new AbortController();
const ask = async (target: string) => {
  const { pathname, searchParams } = new URL(target, `http://node${PROFILES_PATH}`);
  return endpoint({ path: pathname, query: searchParams, signal: client.signal });
};

test.each([
  ['profile', 30],
  ['profile?seconds=1', 1],
  ['profile?seconds=300', 300],
  ['profile?seconds=0', 30],
  ['profile?seconds=-1', 30],
  ['profile?seconds=1.5', 30],
  ['profile?seconds=long', 30],
  ['profile?seconds=', 30],
])('%s is a profile of %i seconds, as Go says', async (target, seconds) => {
  expect((await ask(target)).status).toBe(200);
  expect(asked).toEqual([{ seconds, format: 'pprof', signal: client.signal }]);
  expect(asked[0]!.signal, 'it ends with its client').toBe(client.signal);
});

test.each([
  ['profile', 'application/octet-stream', 'profile'],
  ['profile?format=chrome', 'application/json', 'engram.cpuprofile'],
  ['heap', 'application/octet-stream', 'heap'],
  ['heap?format=chrome', 'application/json', 'engram.heapprofile'],
])('%s is a file of its format', async (target, type, name) => {
  const { status, headers, body } = await ask(target);
  expect([status, body]).toEqual([200, bytes]);
  expect(headers).toEqual({
    'content-type': type,
    'content-disposition': `attachment; filename="${name}"`,
    'x-content-type-options': 'nosniff',
  });
  expect(asked[0]!.format).toBe(target.endsWith('chrome') ? 'chrome' : 'pprof');
  expect(asked[0]!.signal).toBe(client.signal);
});

test.each(['profile?seconds=301', 'profile?format=svg', 'heap?format=svg', 'heap?seconds=1'])(
  '%s is refused before anything is profiled',
  async (target) => {
    expect((await ask(target)).status).toBe(400);
    expect(asked).toEqual([]);
  },
);

test('a profile whose client has gone is no profile', async () => {
  answer = () => Promise.resolve(undefined);
  expect(await ask('profile')).toMatchObject({ status: 408, body: 'the client is gone\n' });
});

test('only a profile that is being taken refuses another one: a profiler that fails is a defect', async () => {
  answer = () => Promise.reject(new ProfilerBusy('cpu profiling already in use'));
  expect((await ask('profile')).status).toBe(500);
  answer = () => Promise.reject(new Error('V8 has failed'));
  await expect(ask('profile')).rejects.toThrow('V8 has failed');
});
