import { noTracer, type TraceContext, traceparentOf } from '@engram/core';
import { RecordingTracer } from '@engram/core/testing';
import { type Caller, nodeItself, type Store } from '@engram/backend';
import { etcdserverpb, type Method, type StreamCall } from '@engram/wire';
import { expect, test } from 'vitest';
import { tracedMethods } from '../src/traced-methods.ts';
import { Api } from './api.ts';
import { FakeCall } from './fake-call.ts';

const parent: TraceContext = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), flags: 1 };
const headers = { traceparent: traceparentOf(parent) };
const PUT = '/etcdserverpb.KV/Put';
const put = etcdserverpb.encodePutRequest({ key: Buffer.from('k'), value: Buffer.from('v') });

/** A member whose calls a tracer records, and the callers that its store has seen. */
async function traced(): Promise<{ api: Api; tracer: RecordingTracer; callers: Caller[] }> {
  const tracer = new RecordingTracer();
  const callers: Caller[] = [];
  const api = await Api.open({ services: { tracer } });
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
    { parent, ends: 1, error: undefined },
    { ends: 1, error: expect.anything() },
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

test('with no tracer the methods are not wrapped, and the client’s context is passed on all the same', async () => {
  await using api = await Api.open();
  await using named = await Api.open({ services: { tracer: noTracer } });
  const callers: Caller[] = [];
  const txn = api.backend.txn.bind(api.backend);
  api.backend.txn = (wanted, caller) => {
    callers.push(caller);
    return txn(wanted, caller);
  };
  await api.call(PUT, put, headers);
  expect(callers[0]).toMatchObject({ trace: parent, span: undefined });
  expect(named.methods.get(PUT)?.kind).toBe('unary');
  expect(nodeItself.trace).toBeUndefined();
});

test('what a recorded call asks of its transport is the transport’s answer', async () => {
  const tracer = new RecordingTracer();
  const call = new FakeCall({ a: 'b' });
  const seen: unknown[] = [];
  const methods = tracedMethods(
    new Map<string, Method>([
      [
        '/x/Z',
        {
          kind: 'bidi' as const,
          open: (inner: StreamCall) => {
            seen.push(inner.peer, inner.client, inner.metadata('a'), inner.signal, inner.head, inner.queuedBytes);
            seen.push(inner.commonName, inner.crowded, inner.reserveAnswer?.(1));
            inner.send(Uint8Array.of(7));
            inner.end();
            return { message() {}, halfClosed() {}, drained() {}, closed() {} };
          },
        },
      ],
    ]),
    tracer,
  );
  const method = methods.get('/x/Z');
  if (method?.kind !== 'bidi') throw new Error('another kind');
  method.open(call).closed();
  expect(seen).toEqual([call.peer, call.client, 'b', call.signal, call.head, 0, undefined, false, true]);
  expect(call.sent).toEqual([Uint8Array.of(7)]);
  expect(call.status).toEqual({ code: 0, message: '' });
  expect(tracer.spans).toMatchObject([{ ends: 1, error: undefined }]);
});
