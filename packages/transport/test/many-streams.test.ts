import { Loop, StepPace } from '@engram/loop';
import { SimClock } from '@engram/sim';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { serve } from '@engram/transport';
import { Flag } from '@engram/http2';
import { frame, grpcHeaders, RawClient, uint32 } from './support/raw-client.ts';
import { startServing, until } from './support/serving.ts';

/* Clients with the maximum number of streams. */

const STREAMS = 60_000;
/** Streams that end in one slice. */
const SLICE_STREAMS = 256;

/** Opens streams of a method, each with `data` as DATA, and returns when the server has processed them. */
async function openStreams(client: RawClient, path: string, data: Uint8Array): Promise<void> {
  const fields = Object.entries(grpcHeaders(path)).map(([name, value]) => ({
    name,
    value: value ?? '',
    indexing: 'remember' as const,
  }));
  for (let opened = 0; opened < STREAMS; ) {
    const burst: Buffer[] = [];
    for (const end = opened + 1_000; opened < end; opened += 1) {
      const id = 2 * opened + 1;
      burst.push(frame('HEADERS', Flag.END_HEADERS, id, client.encoder.encode(fields)));
      if (data.length > 0) burst.push(frame('DATA', 0, id, data));
    }
    client.write(...burst);
    if (client.socket.writableNeedDrain) await once(client.socket, 'drain');
  }
  client.write(frame('PING', 0, 0, Buffer.alloc(8)));
  await client.frame(({ type, ack }) => type === 'PING' && ack);
}

test('a client that announces messages, or sends a byte of each, gets no buffers for them', async () => {
  await using serving = await startServing(serve, { clock: new SimClock() });
  using client = await RawClient.open(serving.port);
  const before = process.memoryUsage().arrayBuffers;
  await openStreams(client, '/test.Echo/Sync', Buffer.concat([Buffer.from([0]), uint32(200 * 1024), Buffer.alloc(1)]));
  // 64 KiB for each stream would be 3.7 GiB. Half a KiB is 30 MB, and the client itself needs some memory.
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(80_000_000);
});

test('60,000 streams that each announce a long message cost no more at the end than others', async () => {
  await using serving = await startServing(serve, { clock: new SimClock() });
  using client = await RawClient.open(serving.port);
  await openStreams(client, '/test.Echo/Sync', Buffer.concat([Buffer.from([0]), uint32(1024 * 1024)]));
  const start = process.cpuUsage();
  client.socket.destroy();
  await until(() => serving.observer.connections === 0);
  await serving.server.close();
  const { user, system } = process.cpuUsage(start);
  // A linear search of the line for each stream would take half a minute.
  expect((user + system) / 1000).toBeLessThan(3_000);
});

test.each([
  { what: 'is lost', end: (client: RawClient) => void client.socket.destroy() },
  { what: 'breaks a rule', end: (client: RawClient) => client.write(frame('DATA', 0, 0)) },
])('the 60,000 streams of a connection that $what end a few at a time', async ({ end }) => {
  const clock = new SimClock();
  const loop = new Loop({ clock, pace: new StepPace(SLICE_STREAMS) });
  await using serving = await startServing(serve, { clock, loop });
  using client = await RawClient.open(serving.port);
  await openStreams(client, '/test.Echo/Open', Buffer.alloc(0));
  end(client);
  let most = 0;
  for (let told = 0; told < STREAMS; ) {
    await new Promise((resolve) => setImmediate(resolve));
    most = Math.max(most, serving.journal.length - told);
    told = serving.journal.length;
  }
  // The test may see the effect of two turns of the server in one of its own.
  expect(most).toBeLessThanOrEqual(2 * SLICE_STREAMS);
  await until(() => serving.observer.connections === 0);
});

test('a server that closes waits until every stream has heard of it', async () => {
  await using serving = await startServing(serve);
  using client = await RawClient.open(serving.port);
  await openStreams(client, '/test.Echo/Open', Buffer.alloc(0));
  await serving.server.close();
  await Promise.resolve();
  expect(serving.journal.filter((entry) => entry === 'closed')).toHaveLength(STREAMS);
});
