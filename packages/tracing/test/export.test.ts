import { EngramError, type Logger, type Span, utf8 } from '@engram/core';
import { Prng, quiet, realClock, SimClock } from '@engram/sim';
import { type RunningTracing, startTracing, type TracingOptions } from '@engram/tracing';
import { Collector } from '@engram/tracing/testing';
import { diag } from '@opentelemetry/api';
import { expect, onTestFinished, test, vi } from 'vitest';

const parent = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), flags: 1 };
const PUT = 'etcdserverpb.KV/Put';

const optionsTo = (address: string | undefined, more: Partial<TracingOptions> = {}): TracingOptions => ({
  address,
  serviceName: 'etcd',
  instanceId: 'm1',
  version: '1.2.3',
  samplingPerMillion: 1_000_000,
  callsPerSecondMax: 0,
  resourceDetectors: false,
  recordKeys: false,
  stopMs: 60_000,
  clock: realClock,
  random: new Prng(1),
  logger: quiet,
  ...more,
});

/** Records something and has it exported. */
async function exported(
  record: (tracing: RunningTracing) => void,
  more: Partial<TracingOptions> = {},
): Promise<Collector> {
  const collector = await Collector.start();
  {
    await using tracing = startTracing(optionsTo(collector.address, more));
    record(tracing);
  }
  return collector;
}

function begin({ tracer }: RunningTracing, from = parent): Span {
  const span = tracer.begin({ method: PUT, from: 'client', parent: from, peer: '127.0.0.1:9' });
  if (span === undefined) throw new Error('not recorded');
  return span;
}

test('a call and its parts are exported with their names, kinds, times, attributes and stages', async () => {
  const beforeMs = Date.now();
  await using collector = await exported((tracing) => {
    const call = begin(tracing);
    const put = call.child('put', { key: utf8('/registry/pods/default/x') });
    put.stage('decided', realClock.nowMs() - 5);
    put.stage('answered');
    put.child('forward', { call: 'txn' }, 'client').end();
    call.end();
  });
  const [forward, put, call] = collector.spans;
  expect(collector.spans).toHaveLength(3);
  expect(collector.tree(parent.traceId)).toEqual([PUT, '  put', '    forward']);
  expect(call).toMatchObject({ name: PUT, kind: 2, parentId: parent.spanId, scope: 'engram', status: { code: 0 } });
  expect(call?.resource).toMatchObject({
    'service.name': 'etcd',
    'service.instance.id': 'm1',
    'service.version': '1.2.3',
  });
  expect(call?.attributes).toMatchObject({
    'rpc.system.name': 'grpc',
    'rpc.method': PUT,
    'rpc.response.status_code': 'OK',
    'client.address': '127.0.0.1:9',
  });
  expect(put).toMatchObject({ kind: 1, attributes: { key_scope: '/registry/pods' } });
  expect(put?.events.map(({ name }) => name)).toEqual(['decided', 'answered']);
  expect(put!.events[1]!.atMs - put!.events[0]!.atMs).toBeGreaterThanOrEqual(4.9);
  expect(forward).toMatchObject({ kind: 3, attributes: { call: 'txn' } });
  expect(call!.startMs).toBeGreaterThanOrEqual(beforeMs - 1);
  expect(call!.endMs).toBeLessThanOrEqual(Date.now() + 1);
  expect(call!.startMs).toBeLessThanOrEqual(put!.startMs);
});

test('a call that ends with an error has its code, and is a fault of the server for some codes alone', async () => {
  await using collector = await exported((tracing) => {
    for (const code of ['Compacted', 'NoLeader'] as const) begin(tracing).end(new EngramError(code));
    begin(tracing).child('append').end(new Error('the append is fenced'));
  });
  const outcome = collector.spans.map(({ name, attributes, status }) => [
    name,
    attributes['rpc.response.status_code'],
    status,
  ]);
  expect(outcome).toEqual([
    [PUT, 'OUT_OF_RANGE', { code: 0, message: '' }],
    [PUT, 'UNAVAILABLE', { code: 2, message: 'etcdserver: no leader' }],
    ['append', undefined, { code: 2, message: 'the append is fenced' }],
  ]);
});

test('what is open in a call ends with it, and what comes later is dropped', async () => {
  await using collector = await exported((tracing) => {
    const call = begin(tracing);
    const put = call.child('put');
    call.end();
    put.stage('too late');
    put.end(new Error('too late'));
    call.end();
    call.child('later').end();
  });
  expect(collector.spans.map(({ name, events, status }) => [name, events.length, status.code])).toEqual([
    ['put', 0, 0],
    [PUT, 0, 0],
    ['later', 0, 0],
  ]);
});

test.each([
  { samplingPerMillion: 0, flags: 1, recorded: true, why: 'the caller records its trace' },
  { samplingPerMillion: 0, flags: undefined, recorded: false, why: 'nobody asks for it' },
  { samplingPerMillion: 1_000_000, flags: 0, recorded: false, why: 'the caller does not record its trace' },
  { samplingPerMillion: 1_000_000, flags: undefined, recorded: true, why: 'all are recorded' },
])(
  '$samplingPerMillion in a million, and flags $flags: $recorded, because $why',
  async ({ flags, recorded, ...rate }) => {
    await using collector = await exported(({ tracer }) => {
      const from = flags === undefined ? undefined : { ...parent, flags };
      expect(tracer.wants(from)).toBe(recorded);
      if (recorded) tracer.begin({ method: PUT, from: 'client', parent: from })?.end();
    }, rate);
    expect(collector.spans).toHaveLength(recorded ? 1 : 0);
  },
);

test.each([
  { samplingPerMillion: 10_000, calls: 100_000 },
  { samplingPerMillion: 500_000, calls: 10_000 },
])(
  '$samplingPerMillion in a million are recorded, and whether one is says nothing of the next',
  async ({ samplingPerMillion, calls }) => {
    const wanted: boolean[] = [];
    await using _ = await exported(
      ({ tracer }) => {
        for (let at = 0; at < calls; at += 1) wanted.push(tracer.wants(undefined));
      },
      { samplingPerMillion },
    );
    const rate = samplingPerMillion / 1_000_000;
    const most = (expected: number): number => 5 * Math.sqrt(expected);
    const recorded = wanted.filter(Boolean).length;
    expect(Math.abs(recorded - rate * calls)).toBeLessThan(most(rate * calls));
    const both = wanted.filter((one, at) => one && wanted[at + 1] === true).length;
    expect(Math.abs(both - rate * rate * calls)).toBeLessThan(most(rate * rate * calls));
  },
);

test('no key is in what is exported, unless it is asked for', async () => {
  const record = (tracing: RunningTracing): void => {
    const call = begin(tracing);
    call.child('range', { range_begin: utf8('/registry/secrets/default/token'), range_end: utf8('/registry/t') });
    call.end();
  };
  await using closed = await exported(record);
  await using open = await exported(record, { recordKeys: true });
  const holds = ({ received }: Collector, text: string): boolean => received.some((bytes) => bytes.includes(text));
  expect([holds(closed, 'token'), holds(closed, '/registry/secrets'), holds(open, 'default/token')]).toEqual([
    false,
    true,
    true,
  ]);
});

test('a collector that is not there keeps nobody, and is told in the log', async () => {
  const collector = await Collector.start();
  const { address } = collector;
  await collector[Symbol.asyncDispose]();
  const lines: string[] = [];
  const line = (_fields: object, message: string): void => void lines.push(message);
  const logger: Logger = { debug: line, info: line, warn: line, error: line };
  const tracing = startTracing(optionsTo(address, { logger, stopMs: 1000 }));
  begin(tracing).end();
  await tracing[Symbol.asyncDispose]();
  expect(lines.length).toBeGreaterThan(0);
});

test('lines of the library are one message each time, whatever is in its texts', async () => {
  const lines: [fields: object, message: string][] = [];
  const line = (fields: object, message: string): void => void lines.push([fields, message]);
  await using _ = startTracing(
    optionsTo('127.0.0.1:1', { logger: { debug: line, info: line, warn: line, error: line } }),
  );
  diag.error('no connection (2026-01-02T03:04:05.006Z)');
  diag.warn('no connection (2026-01-02T03:04:06.007Z)', 14);
  expect(lines).toEqual([
    [{ why: 'no connection (2026-01-02T03:04:05.006Z)' }, 'calls cannot be traced'],
    [{ why: 'no connection (2026-01-02T03:04:06.007Z) 14' }, 'calls cannot be traced'],
  ]);
});

test('where the sampler is the library’s, it decides', async () => {
  vi.stubEnv('OTEL_TRACES_SAMPLER', 'always_off');
  onTestFinished(() => void vi.unstubAllEnvs());
  await using collector = await exported(
    ({ tracer }) => expect(tracer.begin({ method: PUT, from: 'client', parent: undefined })).toBeUndefined(),
    { samplingPerMillion: undefined },
  );
  expect(collector.spans).toEqual([]);
});

test('the calls of clients that are recorded in a second are bounded, those of members are not, and the log tells', async () => {
  const clock = new SimClock();
  const told: unknown[] = [];
  const logger = { ...quiet, warn: (fields: object): void => void told.push(fields) };
  await using collector = await Collector.start();
  const options = { callsPerSecondMax: 10, clock, logger, stopMs: 1 };
  await using tracing = startTracing(optionsTo(collector.address, options));
  const recorded = (calls: number, from: 'client' | 'member' = 'client'): number => {
    let count = 0;
    for (let call = 0; call < calls; call += 1) {
      if (tracing.tracer.begin({ method: PUT, from, parent }) !== undefined) count += 1;
    }
    return count;
  };
  expect(recorded(25)).toBe(10);
  expect(recorded(5, 'member')).toBe(5);
  clock.advance(500);
  expect(recorded(25)).toBe(5);
  // A quiet hour makes no more room than a second.
  clock.advance(3_600_000);
  expect(recorded(25)).toBe(10);
  expect(told).toEqual([
    { calls: 1, max: 10 },
    { calls: 35, max: 10 },
  ]);
});

test('where the sampler is the library’s, calls that it does not want take no room', async () => {
  vi.stubEnv('OTEL_TRACES_SAMPLER', 'parentbased_always_off');
  onTestFinished(() => void vi.unstubAllEnvs());
  await using collector = await Collector.start();
  const bound = { samplingPerMillion: undefined, callsPerSecondMax: 2, clock: new SimClock(), stopMs: 1 };
  await using tracing = startTracing(optionsTo(collector.address, bound));
  const recorded = (from: typeof parent | undefined): boolean =>
    tracing.tracer.begin({ method: PUT, from: 'client', parent: from }) !== undefined;
  for (let call = 0; call < 10; call += 1) expect(recorded(undefined)).toBe(false);
  expect([recorded(parent), recorded(parent), recorded(parent)]).toEqual([true, true, false]);
});

test('without a bound every call is recorded', async () => {
  await using collector = await Collector.start();
  await using tracing = startTracing(optionsTo(collector.address, { callsPerSecondMax: 0, stopMs: 1 }));
  for (let call = 0; call < 1_000; call += 1) begin(tracing);
});
