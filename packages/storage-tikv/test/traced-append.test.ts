import { RecordingTracer } from '@engram/core/testing';
import { expect, test } from 'vitest';
import { batchOf, SimBed } from './sim-bed.ts';

test('an append that is recorded has a span for each request to a store, also for one that fails', async () => {
  const bed = new SimBed();
  const storage = await bed.openSealed();
  const tracer = new RecordingTracer();
  const span = tracer.begin({ method: 'append', from: 'member', parent: undefined });
  expect(await bed.append(storage, batchOf(1, 2))).toBe('committed');
  expect(tracer.spans).toHaveLength(1);
  expect(await bed.append(storage, { ...batchOf(3), span })).toBe('committed');
  expect(tracer.spans.slice(1)).toMatchObject([
    { name: 'tikv Prewrite', kind: 'client', parent: span?.context, ends: 1, error: undefined },
  ]);
  expect(Object.keys(tracer.spans[1]!.attributes)).toEqual(['store', 'region']);
  bed.next('Prewrite', bed.keys.slot(2, 4), { kind: 'lose' });
  expect(await bed.append(storage, { ...batchOf(4), span })).toBe('committed');
  // Lost on its way, then asked of a peer that does not lead.
  expect(tracer.spans.slice(2).map(({ name, error }) => [name, String(error)])).toEqual([
    ['tikv Prewrite', expect.stringContaining('Error')],
    ['tikv Prewrite', 'Error: notLeader'],
    ['tikv Prewrite', 'undefined'],
  ]);
  expect(await bed.read(storage)).toEqual([1, 2, 3, 4]);
});
