import { type TraceContext, traceparentOf, utf8 } from '@engram/core';
import { type RecordedSpan, RecordingTracer } from '@engram/core/testing';
import { type Caller, nodeItself, type Store } from '@engram/backend';
import { CallTracing } from '@engram/etcd-api';
import { etcdserverpb } from '@engram/wire';
import { expect, test } from 'vitest';
import { Api } from './api.ts';

const parent: TraceContext = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), flags: 1 };
const headers = { traceparent: traceparentOf(parent) };
const PUT = '/etcdserverpb.KV/Put';
const put = etcdserverpb.encodePutRequest({ key: Buffer.from('k'), value: Buffer.from('v') });

/** A member whose calls a tracer records, and the callers that its store has seen. */
async function traced(): Promise<{ api: Api; tracer: RecordingTracer; callers: Caller[] }> {
  const tracer = new RecordingTracer();
  const callers: Caller[] = [];
  const api = await Api.open({ interceptors: [new CallTracing(tracer)] });
  const { backend } = api;
  const txn = backend.txn.bind(backend) as Store['txn'];
  backend.txn = (wanted, caller) => {
    callers.push(caller);
    return txn(wanted, caller);
  };
  return { api, tracer, callers };
}

/** The spans but those of appends, with keys as text. */
const told = (tracer: RecordingTracer): readonly RecordedSpan[] =>
  tracer.spans
    .filter(({ name }) => name !== 'append')
    .map((span) => {
      const texts = Object.entries(span.attributes).map(([name, value]) => [
        name,
        value instanceof Uint8Array ? `key ${Buffer.from(value).toString()}` : value,
      ]);
      return { ...span, attributes: Object.fromEntries(texts) };
    });

test('a unary call is a span below the client’s, and in it one of the operation, to which the store’s work belongs', async () => {
  const { api, tracer, callers } = await traced();
  await using _ = api;
  await api.call(PUT, put, headers);
  await api.call(PUT, put);
  const spans = told(tracer);
  const [call, operation, second, last] = spans;
  expect(spans).toMatchObject([
    { name: 'etcdserverpb.KV/Put', kind: 'server', from: 'client', parent, ends: 1, error: undefined },
    { name: 'put', kind: 'internal', parent: call!.context, attributes: { key: 'key k' }, ends: 1 },
    { name: 'etcdserverpb.KV/Put', from: 'client', parent: undefined, ends: 1, error: undefined },
    { name: 'put', parent: second!.context, ends: 1 },
  ]);
  expect(callers.map(({ trace }) => trace)).toEqual([operation!.context, last!.context]);
  expect(call!.context.traceId).toBe(parent.traceId);
  expect(tracer.tree(parent.traceId)).toEqual(['etcdserverpb.KV/Put', '  put', '    append']);
  expect(operation!.stages).toEqual(['queued', 'decided', 'appended', 'applied', 'published', 'answered']);
});

test('a call that fails ends its spans with the error: at once, or later', async () => {
  const { api, tracer } = await traced();
  await using _ = api;
  const noKey = etcdserverpb.encodeDeleteRangeRequest({});
  await expect(api.call('/etcdserverpb.KV/DeleteRange', noKey)).rejects.toThrow('key is not provided');
  await expect(api.compact(77)).rejects.toThrow('required revision is a future revision');
  expect(tracer.spans.map(({ name, ends, error }) => [name, ends, error instanceof Error])).toEqual([
    ['etcdserverpb.KV/DeleteRange', 1, true],
    ['delete_range', 1, true],
    ['etcdserverpb.KV/Compact', 1, true],
    ['compact', 1, true],
  ]);
});

test('operations have the names and the attributes of etcd', async () => {
  const { api, tracer } = await traced();
  await using _ = api;
  await api.range({ key: utf8('a'), rangeEnd: utf8('b'), limit: 7, keysOnly: true });
  await api.deleteRange({ key: utf8('a') });
  await api.txn({
    compare: [{ key: utf8('c'), target: 0, result: 0, version: 0 }],
    success: [{ requestPut: { key: utf8('p'), value: utf8('v') } }],
    failure: [],
  });
  await api.grant(60, 5n);
  await api.revoke(5n);
  await api.compact(2, true);
  const operations = told(tracer).filter(({ kind }) => kind === 'internal');
  expect(operations.map(({ name, attributes }) => ({ name, attributes }))).toEqual([
    {
      name: 'range',
      attributes: { ...rangeOf('a', 'b'), rev: 0, limit: 7, count_only: false, keys_only: true },
    },
    { name: 'delete_range', attributes: rangeOf('a', '') },
    {
      name: 'txn',
      attributes: {
        compare_first_key: 'key c',
        success_first_type: 'put',
        success_first_key: 'key p',
        success_first_lease: 0,
        ...{ compare_len: 1, success_len: 1, failure_len: 0, read_only: false },
      },
    },
    { name: 'lease_grant', attributes: { id: '5', ttl: 60 } },
    { name: 'lease_revoke', attributes: { id: '5' } },
    { name: 'compact', attributes: { is_physical: true, rev: 2 } },
  ]);
});

const rangeOf = (from: string, end: string): object => ({
  range_begin: `key ${from}`,
  range_end: `key ${end}`,
});

test('a stream is one span, which ends when the stream is closed, with its status', async () => {
  const { api, tracer } = await traced();
  await using _ = api;
  const watch = api.bidi('/etcdserverpb.Watch/Watch', headers);
  const alive = api.bidi('/etcdserverpb.Lease/LeaseKeepAlive');
  expect(tracer.spans.map(({ name, ends }) => [name, ends])).toEqual([
    ['etcdserverpb.Watch/Watch', 0],
    ['etcdserverpb.Lease/LeaseKeepAlive', 0],
  ]);
  watch.cancel();
  alive.request(Uint8Array.of(0xff, 0xff, 0xff));
  expect(alive.status?.code).not.toBe(0);
  expect(tracer.spans).toMatchObject([
    { parent, ends: 1, error: { grpc: 1 } },
    { ends: 1, error: { grpc: alive.status?.code } },
  ]);
});

test('a header that is malformed is as none', async () => {
  const { api, tracer, callers } = await traced();
  await using _ = api;
  await api.call(PUT, put, { traceparent: `00-${'0'.repeat(32)}-${'b'.repeat(16)}-01` });
  await api.call(PUT, put, { traceparent: 'x'.repeat(5000) });
  const calls = tracer.spans.filter(({ from }) => from === 'client');
  expect(calls.map((span) => span.parent)).toEqual([undefined, undefined]);
  expect(callers).toHaveLength(2);
});

test('a call that is not recorded passes the client’s context on', async () => {
  const { api, tracer, callers } = await traced();
  await using _ = api;
  tracer.samples = false;
  await api.call(PUT, put, headers);
  await api.call(PUT, put);
  expect(tracer.spans).toEqual([]);
  expect(callers.map(({ trace, span }) => [trace, span])).toEqual([
    [parent, undefined],
    [undefined, undefined],
  ]);
});

test('without the interceptor that traces, the client’s context is passed on all the same', async () => {
  await using api = await Api.open();
  const callers: Caller[] = [];
  const txn = api.backend.txn.bind(api.backend);
  api.backend.txn = (wanted, caller) => {
    callers.push(caller);
    return txn(wanted, caller);
  };
  await api.call(PUT, put, headers);
  expect(callers[0]).toMatchObject({ trace: parent, span: undefined });
  expect(nodeItself.trace).toBeUndefined();
});
