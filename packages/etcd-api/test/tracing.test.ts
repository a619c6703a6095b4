import { type TraceContext, traceparentOf } from '@engram/core';
import { RecordingTracer } from '@engram/core/testing';
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

test('a unary call is a span: of its method, below the client’s, and the store’s caller belongs to it', async () => {
  const { api, tracer, callers } = await traced();
  await using _ = api;
  await api.call(PUT, put, headers);
  await api.call(PUT, put);
  expect(tracer.spans).toMatchObject([
    { method: PUT, from: 'client', parent, ends: 1, error: undefined },
    { method: PUT, from: 'client', parent: undefined, ends: 1, error: undefined },
  ]);
  expect(callers.map(({ trace }) => trace)).toEqual(tracer.spans.map(({ context }) => context));
  expect(tracer.spans[0]!.context.traceId).toBe(parent.traceId);
});

test('a call that fails ends its span with the error: at once, or later', async () => {
  const { api, tracer } = await traced();
  await using _ = api;
  const noKey = etcdserverpb.encodeDeleteRangeRequest({});
  await expect(api.call('/etcdserverpb.KV/DeleteRange', noKey)).rejects.toThrow('key is not provided');
  await expect(api.compact(77)).rejects.toThrow('required revision is a future revision');
  expect(tracer.spans.map(({ method, ends, error }) => [method, ends, error instanceof Error])).toEqual([
    ['/etcdserverpb.KV/DeleteRange', 1, true],
    ['/etcdserverpb.KV/Compact', 1, true],
  ]);
});

test('a stream is one span, which ends when the stream is closed, with its status', async () => {
  const { api, tracer } = await traced();
  await using _ = api;
  const watch = api.bidi('/etcdserverpb.Watch/Watch', headers);
  const alive = api.bidi('/etcdserverpb.Lease/LeaseKeepAlive');
  expect(tracer.spans.map(({ method, ends }) => [method, ends])).toEqual([
    ['/etcdserverpb.Watch/Watch', 0],
    ['/etcdserverpb.Lease/LeaseKeepAlive', 0],
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
  expect(tracer.spans.map((span) => span.parent)).toEqual([undefined, undefined]);
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
