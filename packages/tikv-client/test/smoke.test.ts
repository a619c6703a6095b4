import { expect, test } from 'vitest';
import { Bench, k } from './support/bench.ts';

test('what is written is read, scanned, deleted', async () => {
  const bench = await Bench.make();
  await bench.put({ a: '1', b: '2', c: '3' });
  expect(await bench.get('b')).toBe('2');
  expect(await bench.scan('a', 'z')).toEqual(['a=1', 'b=2', 'c=3']);
  expect(await bench.scan('a', 'z', { reverse: true, limit: 2 })).toEqual(['c=3', 'b=2']);
  const txn = await bench.run(bench.client.begin());
  txn.delete(k('b'));
  expect(await bench.run(txn.commit({ mode: '2pc' }))).toMatchObject({ kind: 'committed', mode: '2pc' });
  expect(await bench.get('b')).toBeUndefined();
  await bench.run(bench.client.close());
  expect(bench.clock.waiting).toBe(0);
  expect(bench.cluster.openStreams).toBe(0);
});
