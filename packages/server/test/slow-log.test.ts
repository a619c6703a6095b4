import type { Span } from '@engram/core';
import { SimClock } from '@engram/sim';
import type { CallContext, RpcStatus } from '@engram/wire';
import { expect, test } from 'vitest';
import { SlowCalls, SlowLog } from '../src/slow-log.ts';

const RANGE = '/etcdserverpb.KV/Range';
const ok: RpcStatus = { code: 0, message: '' };

function slowCalls(): { clock: SimClock; slow: SlowCalls; lines: object[] } {
  const lines: object[] = [];
  const clock = new SimClock();
  const none = (): void => {};
  const logger = { debug: none, info: none, error: none, warn: (fields: object) => void lines.push(fields) };
  return { clock, slow: new SlowCalls(new SlowLog(clock, logger), 300), lines };
}

function callOf(span?: Span): CallContext {
  const { signal } = new AbortController();
  const head = { admitted: undefined };
  return { span, head, signal, peer: '', client: '', method: RANGE, commonName: undefined, metadata: () => undefined };
}

test('a unary call that takes longer than the bound is logged, and no stream: those last', () => {
  const { slow, lines } = slowCalls();
  const hooks = slow.hooks(RANGE, 'unary');
  hooks?.end?.(callOf(), ok, 300);
  expect(lines).toEqual([]);
  hooks?.end?.(callOf(), ok, 301);
  expect(lines).toEqual([{ path: RANGE, 'took-ms': 301 }]);
  expect(slow.hooks('/etcdserverpb.Watch/Watch', 'bidi')).toBeUndefined();
  expect(slow.hooks('/etcdserverpb.KV/RangeStream', 'server-stream')).toBeUndefined();
});

test('the line of a recorded call names its trace', () => {
  const { slow, lines } = slowCalls();
  const context = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), flags: 1 };
  const span: Span = { context, set() {}, stage() {}, child: () => span, end() {} };
  slow.hooks(RANGE, 'unary')?.end?.(callOf(span), ok, 500);
  expect(lines).toEqual([{ path: RANGE, 'took-ms': 500, 'trace-id': 'a'.repeat(32) }]);
});
