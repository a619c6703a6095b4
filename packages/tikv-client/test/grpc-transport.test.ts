import { createServer } from 'node:net';
import { GrpcCode } from '@engram/core';
import { GrpcTransport } from '@engram/tikv-client/testing';
import { afterEach, expect, test, vi } from 'vitest';

afterEach(() => void vi.useRealTimers());

/** A server that takes connections and never answers. */
async function silentServer() {
  const sockets = new Set<import('node:net').Socket>();
  const server = createServer((socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    address: `127.0.0.1:${address.port}`,
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
