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
