import { revision, type Span } from '@engram/core';
import { RecordingTracer } from '@engram/core/testing';
import { expect, test } from 'vitest';
import { settled } from './fakes.ts';
import { from, World } from './world.ts';

function recorded(): { tracer: RecordingTracer; span: Span } {
  const tracer = new RecordingTracer();
  const span = tracer.begin({ method: 'watch', from: 'client', parent: undefined });
  if (span === undefined) throw new Error('not recorded');
  return { tracer, span };
}

test('while a watcher is behind it has a span, which ends when it is live', async () => {
  const { tracer, span } = recorded();
  const world = new World({ auto: false, history: ['a', 'a', 'a'] });
  world.watch('a', { ...from(2), span });
  await world.clock.pass(0);
  expect(tracer.spans).toMatchObject([
    { name: 'watch', ends: 0 },
    { name: 'catch-up', parent: span.context, attributes: { from: 2 }, ends: 0 },
  ]);
  for (const read of [...world.store.reads]) read.settle();
  await settled();
  expect(world.hub.stats.slowWatchers).toBe(0);
  expect(tracer.spans.map(({ ends }) => ends)).toEqual([0, 1]);
  world.stream.cancel(0);
  expect(tracer.spans.map(({ ends }) => ends)).toEqual([1, 1]);
});

test('a watcher that falls behind a sink without room has a span of its own for that', async () => {
  const { tracer, span } = recorded();
  const world = new World();
  world.watch('a', { span });
  world.sink.room = 0;
  world.put('a');
  await world.clock.pass(0);
  expect(tracer.spans.map(({ name, attributes, ends }) => [name, attributes, ends])).toEqual([
    ['watch', {}, 0],
    ['catch-up', { from: revision(2) }, 0],
  ]);
  world.sink.room = Number.POSITIVE_INFINITY;
  world.stream.drained();
  for (let at = 0; at < 10; at += 1) await settled();
  expect(tracer.spans.map(({ ends }) => ends)).toEqual([0, 1]);
});

test('a watcher that begins with the present is never behind, and one whose history is compacted ends', async () => {
  const live = recorded();
  const late = recorded();
  const world = new World({ history: ['a', 'a', 'a'] });
  world.watch('a', { span: live.span });
  world.compact(4);
  world.watch('a', { ...from(2), span: late.span });
  expect(live.tracer.spans.map(({ name, ends }) => [name, ends])).toEqual([['watch', 0]]);
  expect(late.tracer.spans.map(({ name, ends }) => [name, ends])).toEqual([['watch', 1]]);
});
