import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { describe, expect, test } from 'vitest';
import type { Logger } from '@engram/core';
import { serve, type TlsOptions } from '@engram/transport';
import { quiet } from '@engram/sim';
import { CertificateFolder } from './support/certificate-folder.ts';
import { type Identity, issue, revocationList, revocationListDer } from './support/certificates.ts';
import { startServing, until } from './support/serving.ts';

/* TLS refuses the same clients as etcd's. */

const ca = issue('test ca');
const server = issue('server', ca);

const withClients = (folder: CertificateFolder): Partial<TlsOptions> => ({
  clientCertAuth: true,
  trustedCaFile: folder.file('ca.pem'),
});

/** The server's answer to a request, or 'refused'. */
async function ask(port: number, options: ConnectionOptions = {}, identity?: Identity): Promise<string> {
  const { key, certificate: cert } = identity ?? {};
  const socket = connect({ host: '127.0.0.1', port, ca: ca.certificate, key, cert, ...options });
  socket.on('error', () => {});
  socket.write('GET /version HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
  let answer = '';
  socket.setEncoding('utf8').on('data', (text: string) => (answer += text));
  await new Promise((resolve) => socket.on('close', resolve));
  return answer === '' ? 'refused' : answer.slice(9, 12);
}

describe('--client-cert-allowed-hostname', () => {
  test.each([
    {
      identity: issue('allowed', ca, { names: [] }),
      allowed: 'allowed',
      outcome: 'refused',
      why: 'a CommonName is none',
    },
    {
      identity: issue('allowed', ca, { names: ['other'] }),
      allowed: 'allowed',
      outcome: 'refused',
      why: 'nor beside names',
    },
    { identity: issue('x', ca, { names: ['allowed'] }), allowed: 'allowed', outcome: '200', why: 'a name' },
    {
      identity: issue('x', ca, { names: ['allowed'] }),
      allowed: 'ALLOWED.',
      outcome: '200',
      why: 'case and a last dot',
    },
    {
      identity: issue('x', ca, { names: ['*.example.org'] }),
      allowed: 'a.example.org',
      outcome: '200',
      why: 'a label for *',
    },
    {
      identity: issue('x', ca, { names: ['*.example.org'] }),
      allowed: 'a.b.example.org',
      outcome: 'refused',
      why: 'two labels',
    },
    {
      identity: issue('x', ca, { names: ['a*.example.org'] }),
      allowed: 'ab.example.org',
      outcome: 'refused',
      why: 'half a label',
    },
    { identity: issue('x', ca, { names: ['10.0.0.1'] }), allowed: '10.0.0.1', outcome: '200', why: 'an address' },
    {
      identity: issue('10.0.0.1', ca, { names: [] }),
      allowed: '10.0.0.1',
      outcome: 'refused',
      why: 'an address as CN',
    },
    {
      identity: issue('zone', ca, { names: ['IP:fe80::1'] }),
      allowed: 'fe80::1%eth0',
      outcome: 'refused',
      why: 'an address with a zone',
    },
  ])('$why: $outcome', async ({ identity, allowed, outcome }) => {
    const folder = new CertificateFolder(ca, server);
    const tls = folder.tls({ ...withClients(folder), allowedHostnames: ['elsewhere', allowed] });
    await using serving = await startServing(serve, { tls });
    expect(await ask(serving.port, {}, identity)).toBe(outcome);
  });
});

test.each([
  { form: 'PEM', list: revocationList },
  { form: 'DER', list: revocationListDer },
])('a list of revoked certificates in $form', async ({ list }) => {
  const [revoked, other] = [issue('revoked', ca), issue('other', ca)];
  const folder = new CertificateFolder(ca, server);
  const crlFile = folder.file('crl');
  writeFileSync(crlFile, list(ca, [revoked]));
  await using serving = await startServing(serve, { tls: folder.tls({ ...withClients(folder), crlFile }) });
  expect(await ask(serving.port, {}, other)).toBe('200');
  expect(await ask(serving.port, {}, revoked)).toBe('refused');
});

describe('what is offered where the operator chooses nothing', () => {
  const rsa = issue('server', ca, { keys: 'rsa' });
  const tls12: ConnectionOptions = { maxVersion: 'TLSv1.2' };

  test.each([
    { ciphers: 'ECDHE-RSA-AES128-GCM-SHA256', outcome: '200' },
    { ciphers: 'ECDHE-RSA-CHACHA20-POLY1305', outcome: '200' },
    { ciphers: 'ECDHE-RSA-AES256-SHA', outcome: '200' },
    { ciphers: 'AES128-SHA', outcome: 'refused' },
    { ciphers: 'AES256-SHA256', outcome: 'refused' },
    { ciphers: 'AES256-GCM-SHA384', outcome: 'refused' },
    { ciphers: 'ECDHE-RSA-AES256-SHA384', outcome: 'refused' },
  ])('$ciphers: $outcome', async ({ ciphers, outcome }) => {
    await using serving = await startServing(serve, { tls: new CertificateFolder(ca, rsa).tls() });
    expect(await ask(serving.port, { ...tls12, ciphers })).toBe(outcome);
  });

  test('a choice for TLS 1.2 leaves TLS 1.3 as it is', async () => {
    const tls = new CertificateFolder(ca, rsa).tls({ cipherSuites: ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256'] });
    await using serving = await startServing(serve, { tls });
    expect(await ask(serving.port, { minVersion: 'TLSv1.3' })).toBe('200');
    expect(await ask(serving.port, { ...tls12, ciphers: 'ECDHE-RSA-AES256-GCM-SHA384' })).toBe('refused');
  });

  test('nobody renegotiates', async () => {
    await using serving = await startServing(serve, { tls: new CertificateFolder(ca, rsa).tls() });
    const socket: TLSSocket = connect({ host: '127.0.0.1', port: serving.port, ca: ca.certificate, ...tls12 });
    await once(socket, 'secureConnect');
    const outcome = await new Promise<Error | null>((resolve) => {
      socket.on('error', resolve);
      socket.renegotiate({}, resolve);
    });
    expect(String(outcome)).toMatch(/no renegotiation/i);
    socket.destroy();
  });
});

test.each(['TLSv1.2', 'TLSv1.3'] as const)('the log says whose certificate was rejected (%s)', async (version) => {
  const warned: object[] = [];
  const logger: Logger = { ...quiet, warn: (fields) => void warned.push(fields) };
  const folder = new CertificateFolder(ca, server);
  await using serving = await startServing(serve, { logger, tls: folder.tls(withClients(folder)) });
  const stranger = issue('mallory', issue('another ca'));
  expect(await ask(serving.port, { minVersion: version, maxVersion: version }, stranger)).toBe('refused');
  expect(await ask(serving.port, { minVersion: version, maxVersion: version })).toBe('refused');
  await until(() => warned.length === 2);
  for (const fields of warned) expect(fields).toMatchObject({ peer: expect.stringMatching(/^127\.0\.0\.1:\d+$/) });
});
