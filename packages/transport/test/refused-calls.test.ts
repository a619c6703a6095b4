import { afterEach, beforeEach, expect, test } from 'vitest';
import { serve } from '@engram/transport';
import { SimClock } from '@engram/sim';
import { HeaderField } from '@engram/http2';
import { binaryFaultOf } from '../src/grpc/binary-metadata.ts';
import { flood } from './support/flood.ts';
import { grpcHeaders, RawClient } from './support/raw-client.ts';
import { ByteClient, type Serving, startServing } from './support/serving.ts';

/* Calls that are refused at once must cost the client more than the server. */

let serving: Serving;
beforeEach(async () => {
  serving = await startServing(serve, { clock: new SimClock() });
});
afterEach(() => serving.server.close());

test('a flood of them ends the connection', async () => {
  using honest = new ByteClient(serving.target);
  using client = await RawClient.open(serving.port);
  await flood(honest, client, 40_000, (round) =>
    client.headers(2 * round + 1, grpcHeaders('/test.Nobody/Method'), true),
  );
  expect(await client.goAway()).toBe('ENHANCE_YOUR_CALM too_many refused calls');
  await client.untilClosed();
});

test('a flood whose answers are not read, with texts as long as they may be, holds next to nothing', async () => {
  using honest = new ByteClient(serving.target);
  using client = await RawClient.open(serving.port);
  client.socket.pause();
  // A path of 3,900 bytes in the dynamic table, then one byte for each call.
  const path = `/${'p'.repeat(3_900)}/m`;
  const fields = Object.entries(grpcHeaders(path)).map(([name, value]) => ({
    name,
    value: value ?? '',
    indexing: 'remember' as const,
  }));
  const block = (): Buffer => client.encoder.encode(fields);
  await flood(honest, client, 100_000, (round) => client.headersOf(2 * round + 1, block(), true));
});

const long = 'x'.repeat(10_000);
test.each([
  { what: 'a path', changes: { ':path': `/${long}/m` } },
  { what: 'a malformed path', changes: { ':path': long } },
  { what: 'a method', changes: { ':method': long } },
  { what: 'an encoding', changes: { 'grpc-encoding': long } },
  { what: 'a timeout', changes: { 'grpc-timeout': long } },
  { what: 'binary metadata', changes: { 'x-bin': `${long}!` } },
  { what: 'the name of binary metadata', changes: { [`${long}-bin`]: '!' } },
  { what: 'a content type', changes: { 'content-type': long } },
])('the answer repeats little of $what', async ({ changes }) => {
  using client = await RawClient.open(serving.port);
  client.write(client.headers(1, grpcHeaders('/test.Echo/Sync', changes), true));
  const answer = await client.outcome(1);
  expect(answer).toContain('x'.repeat(200));
  expect(answer.length).toBeLessThan(900);
});

test('a content type that is too long is not the one of the answer', async () => {
  using client = await RawClient.open(serving.port);
  client.write(client.request(1, '/test.Echo/Sync', 'x', { 'content-type': `application/grpc+${long}` }));
  await client.outcome(1);
  const head = await client.frame(({ type, streamId }) => type === 'HEADERS' && streamId === 1);
  expect(head.fields).toContain('content-type: application/grpc');
});

test('an error text as long as it likes stays within what clients take', async () => {
  using client = await RawClient.open(serving.port);
  client.write(client.request(1, '/test.Echo/Throw', `long ${'\n'.repeat(10_000)}`));
  const answer = await client.outcome(1);
  expect(answer.length).toBeLessThan(8_000);
});

test('a field of the table is read once, however often it is referred to', () => {
  const field = new HeaderField('x-bin', `${'A'.repeat(4_000)}!`);
  const start = process.cpuUsage();
  for (let round = 0; round < 1_000_000; round += 1) binaryFaultOf(field);
  const { user, system } = process.cpuUsage(start);
  // Some seconds without the cache.
  expect((user + system) / 1000).toBeLessThan(1_000);
  expect(binaryFaultOf(field)).toBe('illegal base64 data at input byte 4000');
});
