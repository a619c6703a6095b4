import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { GrpcCode } from '@engram/core';
import { GrpcTransport } from '@engram/tikv-client/testing';
import { afterEach, expect, test, vi } from 'vitest';

afterEach(() => void vi.useRealTimers());

/** A server that takes connections and never answers. */
async function silentServer() {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    address: `127.0.0.1:${address.port}`,
    /** Resolves when so many connections were made. */
    connections: async (count: number): Promise<void> => {
      while (sockets.size < count) await once(server, 'connection');
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test.each([-3_600_000, 0, 3_600_000])(
  'a request ends after its timeout, whatever the time of day does meanwhile (%i ms)',
  async (stepMs) => {
    await using server = await silentServer();
    // Each look at the time of day finds that it has gone this far.
    vi.useFakeTimers({ toFake: ['Date'] });
    const start = Date.now();
    let looks = 0;
    vi.spyOn(Date, 'now').mockImplementation(() => start + stepMs * looks++);
    const channel = new GrpcTransport(undefined).connect(server.address, false);
    const startMs = performance.now();
    try {
      const asking = channel.unary('/pdpb.PD/GetMembers', new Uint8Array(0), { timeoutMs: 300 });
      vi.setSystemTime(start + stepMs);
      await expect(asking).rejects.toMatchObject({ grpc: GrpcCode.DEADLINE_EXCEEDED });
      const tookMs = performance.now() - startMs;
      expect(tookMs).toBeGreaterThan(290);
      expect(tookMs).toBeLessThan(5_000);
    } finally {
      channel.close();
    }
  },
);

test('each channel has a connection of its own, and one that replaces another has a new one', async () => {
  await using server = await silentServer();
  const transport = new GrpcTransport(undefined);
  const opened = () => {
    const channel = transport.connect(server.address, false);
    const asking = channel.unary('/pdpb.PD/GetMembers', new Uint8Array(0), { timeoutMs: 60_000 });
    return { channel, ended: expect(asking).rejects.toMatchObject({ grpc: GrpcCode.UNAVAILABLE }) };
  };
  const [first, second] = [opened(), opened()];
  await server.connections(2);
  // The server hangs: what comes in the place of a channel that was given up must not wait on its connection.
  first.channel.close();
  await first.ended;
  const third = opened();
  await server.connections(3);
  for (const { channel, ended } of [second, third]) {
    channel.close();
    await ended;
  }
});
