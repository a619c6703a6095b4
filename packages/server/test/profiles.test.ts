import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Engram } from './support/engram-process.ts';

/* /debug/pprof/ of a real process. That pprof reads them is shown in e2e/observe. */

describe('with --enable-pprof', () => {
  let node: Engram;
  beforeAll(async () => {
    node = await Engram.start(['--enable-pprof', '--listen-metrics-urls=http://127.0.0.1:0']);
  });
  afterAll(() => node[Symbol.asyncDispose]());
  const get = (path: string): Promise<Response> => fetch(`${node.url}${path}`, { redirect: 'manual' });

  test('the pages of Go that have a meaning here', async () => {
    const index = await get('/debug/pprof/');
    expect([index.status, index.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(await index.text()).toContain('profile?seconds=30');
    const bare = await get('/debug/pprof');
    expect([bare.status, bare.headers.get('location')]).toEqual([301, '/debug/pprof/']);
    expect((await (await get('/debug/pprof/cmdline')).text()).split('\0')).toContain('--enable-pprof');
    for (const none of ['goroutine', 'trace', 'nothing', 'heap/']) {
      const answer = await get(`/debug/pprof/${none}`);
      expect([answer.status, answer.headers.get('x-go-pprof'), await answer.text()]).toEqual([
        404,
        '1',
        'Unknown profile\n',
      ]);
    }
  });

  test('a profile of the CPU, one at a time, and one of the heap', async () => {
    const taking = get('/debug/pprof/profile?seconds=1');
    let second = await get('/debug/pprof/profile?seconds=1');
    expect([second.status, await second.text()]).toEqual([
      500,
      'Could not enable CPU profiling: cpu profiling already in use\n',
    ]);
    const cpu = await taking;
    expect([cpu.status, cpu.headers.get('content-disposition')]).toEqual([200, 'attachment; filename="profile"']);
    expect(gunzipSync(Buffer.from(await cpu.arrayBuffer())).toString('latin1')).toContain('nanoseconds');
    second = await get('/debug/pprof/profile?seconds=1&format=chrome');
    expect(second.headers.get('content-disposition')).toBe('attachment; filename="engram.cpuprofile"');
    expect(await second.json()).toMatchObject({ nodes: expect.any(Array) });
    const heap = await get('/debug/pprof/heap');
    expect(gunzipSync(Buffer.from(await heap.arrayBuffer())).toString('latin1')).toContain('inuse_space');
    expect(await (await get('/debug/pprof/heap?format=chrome')).json()).toMatchObject({ head: expect.any(Object) });
  });

  test.each([
    ['/debug/pprof/profile?seconds=301', 'seconds: at most 300\n'],
    ['/debug/pprof/profile?format=svg', 'format: pprof or chrome\n'],
    ['/debug/pprof/heap?format=', 'format: pprof or chrome\n'],
    ['/debug/pprof/heap?seconds=1', '"seconds" parameter is not supported for this profile type\n'],
  ])('%s is refused', async (path, text) => {
    const answer = await get(path);
    expect([answer.status, await answer.text()]).toEqual([400, text]);
  });

  test('a process that is told to stop does not wait for a profile', async () => {
    await using other = await Engram.start(['--enable-pprof']);
    const taking = fetch(`${other.url}/debug/pprof/profile?seconds=60`).catch(() => undefined);
    await until(async () => (await fetch(`${other.url}/debug/pprof/profile?seconds=1`)).status === 500);
    const startMs = performance.now();
    other.child.kill('SIGTERM');
    await taking;
    expect(performance.now() - startMs).toBeLessThan(6_000);
  });

  test('the URLs of metrics have no profiles', async () => {
    const line = node.lines.find(({ msg }) => msg === 'serving metrics');
    expect(line).toBeDefined();
    expect((await fetch(`http://${String(line!['address'])}/debug/pprof/heap`)).status).toBe(404);
  });
});

test('without the flag there are none', async () => {
  await using node = await Engram.start();
  expect((await fetch(`${node.url}/debug/pprof/heap`)).status).toBe(404);
  expect((await fetch(`${node.url}/debug/pprof/`)).status).toBe(404);
});

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds()));
}
