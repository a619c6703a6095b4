import { once } from 'node:events';
import { expect } from 'vitest';
import type { RawClient } from './raw-client.ts';
import type { ByteClient } from './serving.ts';

/** What one attack may hold of this process, including the attacker's own buffers (src/h2/limits.ts: below 100 MiB). */
const heldMaxBytes = 100 * 1024 * 1024;
const heldBytes = (): number => {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};

/**
 * Writes until the server ends the connection, at most `rounds` times. Meanwhile other clients are served, and the
 * memory of the process stays within its limit.
 */
export async function flood(
  honest: ByteClient,
  client: RawClient,
  rounds: number,
  bytes: (round: number) => Buffer,
): Promise<void> {
  const before = heldBytes();
  let most = 0;
  let flooding = true;
  let served = 0;
  async function serveHonest(): Promise<void> {
    while (flooding) {
      await honest.unary('/test.Echo/Sync', 'meanwhile');
      served += 1;
      most = Math.max(most, heldBytes() - before);
    }
  }
  const meanwhile = serveHonest();
  for (let round = 0; round < rounds && !client.closed; round += 1) {
    client.write(bytes(round));
    if (client.socket.writableNeedDrain)
      await Promise.race([once(client.socket, 'drain'), once(client.socket, 'close')]);
  }
  flooding = false;
  await meanwhile;
  expect(served).toBeGreaterThan(0);
  expect(most).toBeLessThan(heldMaxBytes);
}
