import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { CLIENT_PREFACE, settingsAckFrame, settingsFrame } from '@engram/http2';
import { ByteClient } from './support/serving.ts';

const connections = 10_000;
/** Connections that are opened at the same time: fewer than the listener's backlog. */
const atOnce = 500;
/** Memory of the serving process, without the kernel's buffers. */
const bytesPerConnectionMax = 24 * 1024;

async function answer(server: ChildProcess): Promise<Record<string, number>> {
  const [message] = (await once(server, 'message')) as [Record<string, number>];
  return message;
}

async function heldBytes(server: ChildProcess): Promise<number> {
  const answered = answer(server);
  server.send('how much?');
  return (await answered)['heldBytes'] ?? Number.NaN;
}

/** Sends preface and settings, and nothing more. Resolves when the server has sent its settings, too. */
function idleClient(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', reject);
    socket.once('data', () => {
      socket.write(settingsAckFrame);
      resolve(socket);
    });
    socket.write(Buffer.concat([Buffer.from(CLIENT_PREFACE), settingsFrame([])]));
  });
}

/** The number of files that this process may open, which is also the server's limit. */
function openFilesMax(): number {
  const report = process.report.getReport() as { userLimits?: { open_files?: { soft?: number | string } } };
  const soft = report.userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : Number.POSITIVE_INFINITY;
}

test(`${connections} idle connections cost little, and everyone else is served`, async () => {
  expect(openFilesMax(), 'ulimit -n').toBeGreaterThan(connections + 100);
  const server = fork(join(import.meta.dirname, 'support/idle-server.ts'), { stdio: 'inherit' });
  onTestFinished(() => void server.kill('SIGKILL'));
  const { port = 0 } = await answer(server);
  using honest = new ByteClient(`127.0.0.1:${port}`);
  await honest.unary('/test.Echo/Sync', 'warm');
  const before = await heldBytes(server);

  const sockets: Socket[] = [];
  onTestFinished(() => sockets.forEach((socket) => void socket.destroy()));
  while (sockets.length < connections) {
    sockets.push(...(await Promise.all(Array.from({ length: atOnce }, () => idleClient(port)))));
    expect((await honest.unary('/test.Echo/Sync', 'meanwhile')).toString()).toBe('meanwhile');
  }

  expect((await heldBytes(server)) - before).toBeLessThan(connections * bytesPerConnectionMax);
  expect(sockets.filter((socket) => socket.destroyed)).toHaveLength(0);
});
