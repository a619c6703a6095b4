import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { freePort, freePorts } from './support/free-port.ts';

test('the kernel gives no port of a test to a client', async () => {
  const [first] = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').split(/\s+/).map(Number);
  for (const port of await freePorts(20)) expect(port).toBeLessThan(first!);
});

test('a process gets a port once, and none that is taken', async () => {
  const port = await freePort();
  const taken = createServer();
  // An error says that another process has it, which is as good.
  await new Promise<void>((resolve) => taken.once('error', () => resolve()).listen(port + 1, '127.0.0.1', resolve));
  try {
    const ports = [port, ...(await freePorts(50))];
    expect(new Set(ports).size).toBe(51);
    expect(ports).not.toContain(port + 1);
  } finally {
    await new Promise((resolve) => taken.close(resolve));
  }
});

test('fetch connects to every port', async () => {
  const answers = async (port: number): Promise<string> =>
    fetch(`http://127.0.0.1:${port}/`).then(String, (error: unknown) => String(error instanceof Error && error.cause));
  expect(await answers(5060)).toContain('bad port');
  // Nearly all ports of the range. To ask whether fetch refuses one takes longer than to find one.
  const suspects = (await freePorts(9_000)).filter((port) => port < 7_000 || port === 10_080);
  const refused = await Promise.all(suspects.map(async (port) => [port, await answers(port)] as const));
  expect(refused.filter(([, answer]) => answer.includes('bad port'))).toEqual([]);
});
