import { type RangeOp, rangeOp } from '@engram/core';
import { type AppliedReads, nodeItself } from '@engram/backend';
import { etcdserverpb } from '@engram/wire';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ALL, Api, b, keysOf } from './api.ts';

let api: Api;
let asked: number;
/** What `readIndex` answers. */
let wait: Promise<void> | undefined;
/** The ranges that were read of what has taken effect. */
let ranges: RangeOp[];

beforeEach(async () => {
  api = await Api.open();
  await api.fill('a', 'b');
  asked = 0;
  wait = undefined;
  ranges = [];
  const { backend } = api;
  backend.readIndex = () => {
    asked += 1;
    return wait;
  };
  const range = backend.applied.range.bind(backend.applied) as AppliedReads['range'];
  backend.applied.range = ((op: RangeOp, ...rest: [never]) => {
    ranges.push(op);
    return range(op, ...rest);
  }) as AppliedReads['range'];
});
afterEach(() => api[Symbol.asyncDispose]());

async function streamed(serializable: boolean): Promise<void> {
  const stream = api.serverStream(
    '/etcdserverpb.KV/RangeStream',
    etcdserverpb.encodeRangeRequest({ ...ALL, serializable }),
  );
  await api.clock.settle(100);
  expect(stream.status).toEqual({ code: 0, message: '' });
}
const requestRange = (serializable: boolean) => ({ requestRange: { key: b('a'), serializable } });

const reads: Readonly<Record<string, (serializable: boolean) => Promise<unknown>>> = {
  'a get': (serializable) => api.range({ key: b('a'), serializable }),
  'a list': (serializable) => api.range({ ...ALL, serializable }),
  'a streamed list': streamed,
  'a transaction that only reads': (serializable) =>
    api.txn({ success: [requestRange(serializable), requestRange(serializable)] }),
};

test.each(Object.keys(reads))('%s asks once whether it must wait, and not if it is serializable', async (name) => {
  for (const waits of [undefined, Promise.resolve()]) {
    wait = waits;
    asked = 0;
    await reads[name]!(false);
    expect(asked, waits === undefined ? 'of a lone node' : 'in a cluster').toBe(1);
    await reads[name]!(true);
    expect(asked).toBe(1);
  }
});

test('a transaction of a serializable and a linearizable range waits', async () => {
  await api.txn({ success: [requestRange(true), requestRange(false)] });
  expect(asked).toBe(1);
  await api.txn({ success: [requestRange(true)], failure: [requestRange(false)] });
  expect(asked).toBe(2);
});

test('a read that waits sees what has taken effect meanwhile, by the operation as it came', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  wait = promise;
  const list = api.range(ALL);
  const txn = api.txn({ success: [{ requestRange: ALL }] });
  await api.fill('c');
  expect(ranges).toEqual([]);
  resolve();
  expect(keysOf(await list)).toEqual(['a', 'b', 'c']);
  expect((await txn).responses[0]?.responseRange?.count).toBe(3);
  expect(ranges.map(({ serializable }) => serializable)).toEqual([false]);
});

test('the store of a node waits as its clients do', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  wait = promise;
  const found = api.backend.range(rangeOp({ key: ALL.key, end: ALL.rangeEnd }), nodeItself);
  await api.fill('c');
  resolve();
  expect((await found).count).toBe(3);
  expect(asked).toBe(1);
});
