import { afterEach, beforeEach, expect, test } from 'vitest';
import { serve } from '@engram/transport';
import { SettingId } from '@engram/http2';
import { RawClient } from './support/raw-client.ts';
import { type Serving, startServing } from './support/serving.ts';

/* Answers longer than the 31-bit lengths that gRPC implementations support. */

let serving: Serving;
beforeEach(async () => {
  serving = await startServing(serve);
});
afterEach(() => serving.server.close());

const says = (bytes: number): string =>
  `:status: 200, grpc-status: 8, grpc-message: grpc: trying to send message larger than max (${bytes} vs. 2147483647)`;

test.each([2 ** 31, 2 ** 32 + 300])('a unary answer of %d bytes is refused', async (bytes) => {
  using client = await RawClient.open(serving.port);
  client.write(client.request(1, '/test.Echo/Endless', String(bytes)));
  expect(await client.outcome(1)).toBe(says(bytes));
  expect(serving.observer.handled).toEqual(['Endless 8']);
});

test('so is a message of a stream', async () => {
  using client = await RawClient.open(serving.port);
  client.write(client.request(1, '/test.Echo/EndlessStream', String(2 ** 31)));
  expect(await client.outcome(1)).toBe(says(2 ** 31));
});

test('one of 2^31-1 bytes is begun', async () => {
  using narrow = await RawClient.open(serving.port, [[SettingId.INITIAL_WINDOW_SIZE, 5]]);
  narrow.write(narrow.request(1, '/test.Echo/Endless', String(2 ** 31 - 1)));
  expect((await narrow.frame(({ type }) => type === 'DATA')).payload.toString('hex')).toBe('007fffffff');
});
