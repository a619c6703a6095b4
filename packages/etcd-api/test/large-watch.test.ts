import { Loop, StepPace } from '@engram/loop';
import { expect, test } from 'vitest';
import { ALL, Api, b, t } from './api.ts';

test('a deletion of very many keys is one response, or fragments, live and from history', async () => {
  await using api = await Api.open();
  const watch = api.watch();
  const keys = Array.from({ length: 5_000 }, (_, at) => `key-${String(at).padStart(5, '0')}`);
  for (let from = 0; from < keys.length; from += 100) {
    const puts = keys.slice(from, from + 100).map((key) => ({ requestPut: { key: b(key) } }));
    await api.txn({ success: puts });
  }
  watch.create({ ...ALL, prevKv: true });
  watch.create({ ...ALL, fragment: true });
  watch.create({ key: b('key-00010'), rangeEnd: b('key-00013') });
  const { header } = await api.deleteRange(ALL);
  await api.clock.settle(200);
  const responses = await watch.rest();
  watch.create({ ...ALL, startRevision: header!.revision });
  await api.clock.settle(200);
  responses.push(...(await watch.rest()));
  const some = keys.slice(10, 13);
  for (const [id, expected] of [keys, keys, some, keys].entries()) {
    const [response, ...more] = responses.filter(({ watchId }) => watchId === id);
    expect(more).toEqual([]);
    expect(response).toMatchObject({ fragment: false, header: { revision: header!.revision } });
    expect(response!.events.map(({ kv }) => t(kv!.key))).toEqual(expected);
    expect(response!.events.every(({ prevKv }) => (prevKv !== undefined) === (id === 0))).toBe(true);
  }
});

test('the header does not fall while events are published in slices', async () => {
  await using api = await Api.open({ loop: (clock) => new Loop({ clock, pace: new StepPace(10) }) });
  const { watchHub } = api.backend;
  const watch = api.watch();
  for (let count = 0; count < 100; count += 1) api.watch().create(ALL);
  const put = api.put({ key: b('a') });
  while (watchHub.header === watchHub.revision) await new Promise(setImmediate);
  const { watchId, header } = watch.create(ALL);
  watch.send({ createRequest: { key: b('b'), rangeEnd: b('a') } });
  watch.cancel(watchId);
  expect(watchHub.revision).toBeLessThan(watchHub.header);
  const { revision } = (await put).header!;
  const answers = await watch.rest();
  expect(header?.revision).toBe(revision);
  expect(answers.map((answer) => [answer.canceled, answer.header?.revision])).toEqual([
    [true, revision],
    [true, revision],
  ]);
});
