import { type LogPosition, logPosition } from '@engram/core';
import { type RecordRequest, RecordRequests } from '@engram/storage';
import { expect, test } from 'vitest';
import { never } from '@engram/storage/testing';

const positions = (...numbers: number[]): LogPosition[] => numbers.map((number) => logPosition(number));
const from1 = (count: number): LogPosition[] => Array.from({ length: count }, (_, index) => logPosition(index + 1));

/** Takes a group in which each record has ten bytes. Returns the positions in the order in which they were taken. */
function take(requests: RecordRequests, countMax: number, bytesMax = Number.POSITIVE_INFINITY): number[] {
  const taken: number[] = [];
  requests.takeGroup(countMax, bytesMax, (request, at) => {
    taken.push(request.positions[at]!);
    return 10;
  });
  return taken;
}

test('nothing asked for is answered at once', async () => {
  const requests = new RecordRequests();
  expect(await requests.add([], never, () => expect.unreachable())).toEqual([]);
  expect(requests.empty).toBe(true);
});

test('each call is told its records in its order, when the last one is there', async () => {
  const requests = new RecordRequests();
  let started = 0;
  const answer = requests.add(positions(7, 3), never, () => {
    started += 1;
  });
  expect(started).toBe(1);
  const wants: [RecordRequest, number][] = [];
  requests.takeGroup(10, 100, (request, at) => {
    wants.push([request, at]);
    return 1;
  });
  expect(requests.empty).toBe(true);
  for (const [request, at] of wants.toReversed()) request.deliver(at, Uint8Array.of(request.positions[at]!));
  expect(await answer).toEqual([Uint8Array.of(7), Uint8Array.of(3)]);
});

test('large calls take turns with each other and with small ones', () => {
  const requests = new RecordRequests();
  for (const list of [from1(5), positions(100), from1(3)]) void requests.add(list, never, () => {});
  expect(take(requests, 3)).toEqual([1, 2, 3]);
  expect(take(requests, 3)).toEqual([100, 1, 2]);
  expect(take(requests, 3)).toEqual([4, 5, 3]);
  expect(requests.empty).toBe(true);
  expect(take(requests, 3)).toEqual([]);
});

test('a group ends with the record that fills its bytes, and the call goes on at its next turn', () => {
  const requests = new RecordRequests();
  void requests.add(from1(4), never, () => {});
  expect(take(requests, 10, 25)).toEqual([1, 2, 3]);
  expect(take(requests, 10, 25)).toEqual([4]);
});

test('a call that is aborted takes no part in the next group', async () => {
  const requests = new RecordRequests();
  const stop = new AbortController();
  const abandoned = requests.add(from1(4), stop.signal, () => {});
  void requests.add(positions(9), never, () => {});
  expect(take(requests, 2)).toEqual([1, 2]);
  stop.abort(new Error('no longer wanted'));
  expect(take(requests, 10)).toEqual([9]);
  await expect(abandoned).rejects.toThrow('no longer wanted');
  expect(requests.empty).toBe(true);
});

test('a call that fails is taken no further, and what is delivered for it afterwards is nothing', async () => {
  const requests = new RecordRequests();
  const failing = requests.add(from1(3), never, () => {});
  const seen: number[] = [];
  let failed: RecordRequest | undefined;
  requests.takeGroup(10, 100, (request, at) => {
    seen.push(request.positions[at]!);
    if (at === 1) request.fail(new Error('missing'));
    failed = request;
    return 1;
  });
  expect(seen).toEqual([1, 2]);
  failed!.fail(new Error('a second time'));
  for (const at of [0, 1, 2]) failed!.deliver(at, Uint8Array.of(1));
  await expect(failing).rejects.toThrow('missing');
  expect(requests.empty).toBe(true);
});
