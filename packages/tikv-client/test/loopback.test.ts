import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as grpc from '@grpc/grpc-js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TikvClient } from '../index.ts';
import { k, text } from './support/bench.ts';
import { Loopback } from '../src/testing/loopback.ts';

const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'no error',
    (error: { code?: string }) => error.code,
  );

async function write(
  client: TikvClient,
  entries: Record<string, string>,
  mode?: '1pc' | 'async' | '2pc',
): Promise<string> {
  const txn = await client.begin();
  for (const [key, value] of Object.entries(entries)) txn.put(k(key), k(value));
  return (await txn.commit({ mode })).kind;
}

test('over real sockets: write, read, scan, split, collect, in every mode', async () => {
  await using loopback = await Loopback.start();
  await using client = await TikvClient.connect({ pdAddresses: loopback.pdAddresses });
  for (const mode of ['1pc', 'async', '2pc'] as const) {
    expect(await write(client, { a: mode, m: mode, z: mode }, mode)).toBe('committed');
    await client.admin.split([k('m')]);
    const rows: string[] = [];
    for await (const { key, value } of (await client.snapshot()).scan(k('a'), k('')))
      rows.push(`${text(key)}=${text(value)}`);
    expect(rows).toEqual([`a=${mode}`, `m=${mode}`, `z=${mode}`]);
  }
  expect(text(await client.get(k('m')))).toBe('2pc');
  const big = 'x'.repeat(5 << 20);
  expect(await write(client, { big })).toBe('committed');
  expect((await client.get(k('big')))?.length).toBe(big.length);
  await client.admin.deleteRange(k('a'), k('n'));
  expect(await client.get(k('a'))).toBeUndefined();
  expect((await client.gc.collect(60_000)).resolvedLocks).toBe(0);
});

test('a store whose server restarts is used again', async () => {
  await using loopback = await Loopback.start({ stores: 1 });
  await using client = await TikvClient.connect({ pdAddresses: loopback.pdAddresses });
  expect(await write(client, { a: '1' })).toBe('committed');
  await loopback.restart(loopback.cluster.addressOf(1));
  expect(text(await client.get(k('a')))).toBe('1');
  expect(await write(client, { a: '2' })).toBe('committed');
});

test('a thousand reads at once, and as many signals', async () => {
  await using loopback = await Loopback.start();
  await using client = await TikvClient.connect({ pdAddresses: loopback.pdAddresses });
  await write(client, { a: '1' });
  const values = await Promise.all(Array.from({ length: 1_000 }, () => client.get(k('a'))));
  expect(values.map(text)).toEqual(new Array(1_000).fill('1'));
  const stop = new AbortController();
  loopback.cluster.script(({ command }) => (command === 'Get' ? { kind: 'silence', executed: false } : undefined));
  const waiting = Array.from({ length: 1_000 }, () => codeOf(client.get(k('a'), { signal: stop.signal })));
  setImmediate(() => stop.abort());
  expect(await Promise.all(waiting)).toEqual(new Array(1_000).fill('aborted'));
});

let dir = '';
const path = (name: string): string => join(dir, name);
function certify(name: string, ca: string, commonName: string, names: string): void {
  const run = (...args: string[]): void => void execFileSync('openssl', args, { cwd: dir, stdio: 'ignore' });
  run(
    'req',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-keyout',
    `${name}.key`,
    '-out',
    `${name}.csr`,
    '-subj',
    `/CN=${commonName}`,
  );
  writeFileSync(path(`${name}.ext`), `subjectAltName=${names}`);
  run(
    'x509',
    '-req',
    '-in',
    `${name}.csr`,
    '-CA',
    `${ca}.crt`,
    '-CAkey',
    `${ca}.key`,
    '-CAcreateserial',
    '-out',
    `${name}.crt`,
    '-days',
    '2',
    '-extfile',
    `${name}.ext`,
  );
}
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'tikv-tls-'));
  for (const ca of ['ca', 'other']) {
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'rsa:2048',
        '-nodes',
        '-keyout',
        `${ca}.key`,
        '-out',
        `${ca}.crt`,
        '-days',
        '2',
        '-subj',
        `/CN=${ca}`,
      ],
      { cwd: dir, stdio: 'ignore' },
    );
  }
  certify('server', 'ca', 'tikv', 'IP:127.0.0.1');
  certify('client', 'ca', 'engram', 'DNS:engram');
  certify('stranger', 'other', 'engram', 'DNS:engram');
  certify('misnamed', 'ca', 'tikv', 'DNS:elsewhere');
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const serverCredentials = (name: string): grpc.ServerCredentials =>
  grpc.ServerCredentials.createSsl(
    readFileSync(path('ca.crt')),
    [{ cert_chain: readFileSync(path(`${name}.crt`)), private_key: readFileSync(path(`${name}.key`)) }],
    true,
  );

test('TLS both ways; certificates are read again for each connection', async () => {
  await using loopback = await Loopback.start({ stores: 1 }, serverCredentials('server'));
  for (const end of ['crt', 'key']) copyFileSync(path(`client.${end}`), path(`current.${end}`));
  const tls = { caPath: path('ca.crt'), certPath: path('current.crt'), keyPath: path('current.key') };
  await using client = await TikvClient.connect({ pdAddresses: loopback.pdAddresses, tls, callTimeoutMs: 10_000 });
  expect(await write(client, { a: '1' })).toBe('committed');
  // The certificate file is replaced before the client must connect again.
  certify('current', 'ca', 'engram-2', 'DNS:engram');
  await loopback.restart(loopback.cluster.addressOf(1));
  expect(text(await client.get(k('a')))).toBe('1');
  await using named = await TikvClient.connect({
    pdAddresses: loopback.pdAddresses,
    tls: { ...tls, allowedCommonNames: ['tikv'] },
  });
  expect(text(await named.get(k('a')))).toBe('1');
});

test('TLS: the file of the authority may have the certificate of the server itself', async () => {
  await using loopback = await Loopback.start({ stores: 1 }, serverCredentials('server'));
  const tls = { caPath: path('server.crt'), certPath: path('client.crt'), keyPath: path('client.key') };
  await using client = await TikvClient.connect({ pdAddresses: loopback.pdAddresses, tls });
  expect(await write(client, { a: '1' })).toBe('committed');
});

test.each([
  {
    name: 'a server of another authority',
    tls: () => ({ caPath: path('other.crt'), certPath: path('client.crt'), keyPath: path('client.key') }),
  },
  {
    name: 'a name that is not allowed',
    tls: () => ({
      caPath: path('ca.crt'),
      certPath: path('client.crt'),
      keyPath: path('client.key'),
      allowedCommonNames: ['pd'],
    }),
  },
  { name: 'a file that is not there', tls: () => ({ caPath: path('missing.crt') }) },
])('TLS: $name is refused by name', async ({ tls }) => {
  await using loopback = await Loopback.start({ stores: 1 }, serverCredentials('server'));
  expect(await codeOf(TikvClient.connect({ pdAddresses: loopback.pdAddresses, tls: tls(), timeoutMs: 5_000 }))).toBe(
    'tls-failed',
  );
});

test('TLS: a certificate for another host, whoever it names, no certificate of ours, and half a pair', async () => {
  await using loopback = await Loopback.start({ stores: 1 }, serverCredentials('misnamed'));
  const tls = { caPath: path('ca.crt'), certPath: path('client.crt'), keyPath: path('client.key') };
  expect(await codeOf(TikvClient.connect({ pdAddresses: loopback.pdAddresses, tls, timeoutMs: 5_000 }))).toBe(
    'tls-failed',
  );
  const named = { ...tls, allowedCommonNames: ['tikv'] };
  expect(await codeOf(TikvClient.connect({ pdAddresses: loopback.pdAddresses, tls: named, timeoutMs: 5_000 }))).toBe(
    'tls-failed',
  );
  expect(
    await codeOf(TikvClient.connect({ pdAddresses: loopback.pdAddresses, tls: { certPath: path('client.crt') } })),
  ).toBe('invalid-argument');
  await using strict = await Loopback.start({ stores: 1 }, serverCredentials('server'));
  const code = await codeOf(
    TikvClient.connect({
      pdAddresses: strict.pdAddresses,
      tls: { ...tls, certPath: path('stranger.crt'), keyPath: path('stranger.key') },
      timeoutMs: 3_000,
    }),
  );
  expect(['tls-failed', 'pd-unreachable']).toContain(code);
});
