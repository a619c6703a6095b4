import { type Caller, nodeItself } from '@engram/backend';
import { leaseId, type Span } from '@engram/core';
import { RecordingTracer } from '@engram/core/testing';
import { SimClock } from '@engram/sim';
import { type AppendFault, type LogBatch, MemoryStorage } from '@engram/storage';
import { expect, test } from 'vitest';
import { openNode } from './harness.ts';
import { everything, Gate, put, putOf, refusal, txnOf } from './ops.ts';

/** Callers whose calls are recorded. */
class Traced {
  readonly tracer = new RecordingTracer();

  span(method = 'put'): Span {
    return this.tracer.begin({ method, from: 'client', parent: undefined })!;
  }

  caller(span = this.span()): Caller {
    return { ...nodeItself, span, trace: span.context };
  }
}

test('a write tells its stages with their times, and the append of its batch is in it', async () => {
  const traced = new Traced();
  const gate = new Gate('append');
  const clock = new SimClock();
  const { backend } = await openNode(new MemoryStorage({ gate: gate.gate }), { clock });
  gate.shut = true;
  const startMs = clock.nowMs();
  const slow = backend.txn(txnOf(putOf('a', '1')), traced.caller());
  await clock.settle();
  clock.advance(100);
  gate.open();
  await slow;
  const [write, append] = traced.tracer.spans;
  const stages = ['queued', 'decided', 'appended', 'applied', 'published', 'answered'];
  expect(write).toMatchObject({ name: 'put', stages });
  expect(write!.stagesMs.map((ms) => ms! - startMs)).toEqual([0, 0, 100, 100, 100, 100]);
  expect(append).toMatchObject({ name: 'append', parent: write!.context, attributes: { writes: 1 }, ends: 1 });
  expect(traced.tracer.spans).toHaveLength(2);
});

test('of a batch the append is in the first write that is recorded, and the log is told', async () => {
  const traced = new Traced();
  const gate = new Gate('append');
  const appended: LogBatch[] = [];
  const storage = new MemoryStorage({ gate: gate.gate });
  const append = storage.log.append.bind(storage.log);
  storage.log.append = (batch, seal) => {
    appended.push(batch);
    return append(batch, seal);
  };
  const { backend, clock } = await openNode(storage);
  gate.shut = true;
  const first = backend.txn(put('before', '1'), nodeItself);
  await clock.settle();
  const spans = [traced.span('x'), traced.span('y')];
  const rest = [
    backend.txn(put('a', '1'), nodeItself),
    ...spans.map((span) => backend.txn(put('b', '1'), traced.caller(span))),
  ];
  gate.open();
  await Promise.all([first, ...rest]);
  expect(traced.tracer.spans.map(({ name, parent }) => [name, parent])).toEqual([
    ['x', undefined],
    ['y', undefined],
    ['append', spans[0]!.context],
  ]);
  expect(traced.tracer.spans[2]!.attributes).toEqual({ writes: 3 });
  expect(appended.slice(-2).map(({ span }) => span?.context)).toEqual([undefined, traced.tracer.spans[2]!.context]);
});

test('a write that is refused, or has no records, tells the stages that it has reached', async () => {
  const traced = new Traced();
  let fault: AppendFault = 'none';
  const { backend } = await openNode(new MemoryStorage({ append: () => fault }), { onDeposed: () => {} });
  await backend.leaseGrant(leaseId(7n), 100, nodeItself);
  await refusal(backend.leaseGrant(leaseId(7n), 100, traced.caller()));
  const nothing = { kind: 'delete-range', range: everything().range, prevKv: false } as const;
  await backend.txn(txnOf(nothing), traced.caller());
  fault = 'fenced';
  await refusal(backend.txn(put('f', 'x'), traced.caller()));
  expect(traced.tracer.spans.map(({ name, stages, error }) => [name, stages, String(error)])).toEqual([
    ['put', ['queued', 'refused'], 'undefined'],
    ['put', ['queued', 'decided', 'applied', 'answered'], 'undefined'],
    ['put', ['queued', 'decided', 'refused'], 'undefined'],
    ['append', [], 'Error: the append is fenced'],
  ]);
});
