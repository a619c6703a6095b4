import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Engram, run } from './support/engram-process.ts';

const health = (url: string, ...more: readonly string[]) =>
  run(['health', '--listen-client-urls', url, '--advertise-client-urls', url, ...more]);

async function withServer<T>(answer: RequestListener, use: (url: string) => Promise<T>): Promise<T> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test('a member that serves is ready: 0', async () => {
  await using engram = await Engram.start();
  expect(await health(engram.url)).toMatchObject({ code: 0, stdout: `${engram.url}: ready\n`, stderr: '' });
});

test('a member that asks clients for certificates is asked with its own', async () => {
  const scratch = mkdtempSync(join(tmpdir(), 'engram-health-'));
  try {
    const [certFile, keyFile] = [join(scratch, 'cert.pem'), join(scratch, 'key.pem')];
    const request = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=member';
    execFileSync('openssl', [...request.split(' '), '-keyout', keyFile, '-out', certFile], { stdio: 'pipe' });
    const tls = ['--cert-file', certFile, '--key-file', keyFile, '--trusted-ca-file', certFile, '--client-cert-auth'];
    await using engram = await Engram.start([
      ...['--listen-client-urls', 'https://127.0.0.1:0', '--advertise-client-urls', 'https://127.0.0.1:0', ...tls],
    ]);
    const url = `https://${engram.address}`;
    expect(await health(url, ...tls)).toMatchObject({ code: 0, stdout: `${url}: ready\n`, stderr: '' });
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
});

test.each(['etcd.example,10.0.0.1', '::1', 'localhost,etcd.example', 'etcd.example,*'])(
  'a member that may be asked for %s alone is ready: 0',
  async (hosts) => {
    const whitelist = ['--host-whitelist', hosts];
    await using engram = await Engram.start(whitelist);
    expect(await health(engram.url, ...whitelist)).toMatchObject({ code: 0, stdout: `${engram.url}: ready\n` });
  },
);

test('a member that is not ready: 1, and what it says; metrics URLs are asked first', async () => {
  const asked: (string | undefined)[] = [];
  await withServer(
    ({ url }, response) => {
      asked.push(url);
      response.writeHead(503).end('[-]read_index failed: etcdserver: no leader\n[+]data_corruption ok\n\n');
    },
    async (url) => {
      expect(await health('http://127.0.0.1:1', '--listen-metrics-urls', url)).toMatchObject({
        code: 1,
        stdout: '',
        stderr: `${url}: 503 [-]read_index failed: etcdserver: no leader; [+]data_corruption ok\n`,
      });
    },
  );
  expect(asked).toEqual(['/readyz']);
});

test('where nobody listens: 1, and the error', async () => {
  const url = await withServer(
    () => {},
    async (free) => free,
  );
  const { code, stderr } = await health(url);
  expect({ code, stderr }).toEqual({ code: 1, stderr: `${url}: connect ECONNREFUSED ${url.slice(7)}\n` });
});

test('a member that does not answer: 1 after four seconds', async () => {
  await withServer(
    () => {},
    async (url) => {
      expect(await health(url)).toMatchObject({
        code: 1,
        stderr: `${url}: no answer within 4000 ms\n`,
      });
    },
  );
});

test('flags that make no sense are refused as at a start', async () => {
  const { code, stderr } = await run(['health', '--listen-client-urls', 'http://127.0.0.1:2379']);
  expect(code).toBe(1);
  expect(JSON.parse(stderr)).toMatchObject({ level: 'fatal', msg: 'failed to verify flags' });
});
