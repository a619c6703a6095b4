import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectionsMax, descriptorsMax } from '../src/config/descriptor-plan.ts';
import { Engram, engramPath, run } from './support/engram-process.ts';
import { GrpcClient } from './support/grpc-client.ts';

const GiB = 2 ** 30;

test.each([
  { limit: 1_048_576, quotaBytes: 2 * GiB, connections: 1_048_362, why: '150, and 64 of the log' },
  { limit: 1024, quotaBytes: 8 * GiB, connections: 618, why: '150, and 256 of the log' },
  { limit: 1024, quotaBytes: undefined, connections: 656, why: 'a quarter for a log without bound' },
  { limit: 200, quotaBytes: 8 * GiB, connections: 25, why: 'never more than half of what is left' },
  { limit: 151, quotaBytes: GiB, connections: 1, why: 'one is the least' },
  { limit: undefined, quotaBytes: 2 * GiB, connections: 65_322, why: 'nobody says' },
])('of $limit descriptors $connections are for clients: $why', ({ limit, quotaBytes, connections }) => {
  expect(connectionsMax({ limit, quotaBytes, peerSockets: 0, maxConnections: 0 })).toBe(connections);
  expect(connectionsMax({ limit, quotaBytes, peerSockets: 0, maxConnections: 1 })).toBe(1);
  expect(connectionsMax({ limit, quotaBytes, peerSockets: 0, maxConnections: 10_000_000 })).toBe(connections);
});

test.each([
  { limit: 1024, wanted: 0, descriptors: 1024 },
  { limit: 1024, wanted: 500, descriptors: 500 },
  { limit: 1024, wanted: 5000, descriptors: 1024 },
  { limit: undefined, wanted: 500, descriptors: 500 },
  { limit: undefined, wanted: 0, descriptors: undefined },
])('the system allows $limit, --max-descriptors=$wanted: $descriptors', ({ limit, wanted, descriptors }) => {
  expect(descriptorsMax(limit, wanted)).toBe(descriptors);
});

let scratch: string;
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'engram-descriptors-'));
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** The path of a command that starts Engram with this limit on open files. */
function limited(descriptors: number): string {
  const command = join(scratch, `engram-${descriptors}`);
  writeFileSync(command, `#!/bin/sh\nulimit -n ${descriptors} && exec ${engramPath} "$@"\n`);
  chmodSync(command, 0o755);
  return command;
}

test('too few for the store itself: it says so and ends', async () => {
  const { code, stderr } = await run(['--data-dir', join(scratch, 'few')], { command: limited(150) });
  expect(code).toBe(1);
  expect(stderr).toContain('file descriptor limit[150] of the process is too low, and should be set higher than [150]');
});

test('more clients than descriptors: the store goes on writing into new files, and health is answered', async () => {
  await using engram = await Engram.start(['--listen-metrics-urls=http://127.0.0.1:0'], { command: limited(260) });
  using writer = new GrpcClient(engram.url);
  await writer.put('first', 'x');
  const idle: Socket[] = [];
  for (let at = 0; at < 400; at += 1) {
    const socket = connect(engram.port, '127.0.0.1');
    socket.on('error', () => {});
    idle.push(socket);
    await once(socket, 'connect').catch(() => {});
  }
  // Fills three files of the log.
  const value = 'v'.repeat(1_000_000);
  for (let at = 0; at < 150; at += 1) await writer.put(`k${at}`, value);
  const metrics = engram.lines.find(({ msg }) => msg === 'serving metrics')?.['address'];
  expect((await fetch(`http://${metrics}/livez`)).status).toBe(200);
  const text = await (await fetch(`http://${metrics}/metrics`)).text();
  expect(Number(/^engram_budget_refusals_total\{resource="connections"\} (\d+)/m.exec(text)?.[1])).toBeGreaterThan(300);
  for (const socket of idle) socket.destroy();
  expect((await engram.stop()).code).toBe(0);
});

test('what other members need is not for clients', () => {
  const needs = { limit: 1000, quotaBytes: 0, maxConnections: 0 };
  expect(connectionsMax({ ...needs, peerSockets: 128 })).toBe(connectionsMax({ ...needs, peerSockets: 0 }) - 128);
  // Of very few descriptors they get a part.
  expect(connectionsMax({ ...needs, limit: 200, peerSockets: 128 })).toBeGreaterThan(30);
});
