import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { serve, serveGrpcJs, type TlsOptions } from '@engram/transport';
import { mayBeClient } from '../src/certificate-path.ts';
import { certificateCases } from './support/certificate-cases.ts';
import { CertificateFolder } from './support/certificate-folder.ts';
import { type Identity, issue, revocationList } from './support/certificates.ts';
import { type Serve, startServing, until } from './support/serving.ts';

/* Which certificates of clients are accepted: those that etcd accepts, by Go's rules. */

const { root, cases } = certificateCases();
const server = issue('server', root);

const tlsOf = (folder: CertificateFolder, changes: Partial<TlsOptions> = {}): TlsOptions =>
  folder.tls({ trustedCaFile: folder.file('ca.pem'), clientCertAuth: true, ...changes });

/** OpenSSL's client would not show a weak key. */
const WEAK_TOO = 'DEFAULT@SECLEVEL=0';

interface Visit {
  readonly served: boolean;
  readonly resumed: boolean;
}

/** Sends one request over a new connection. With a `ca`, OpenSSL would send more certificates than it was given. `sessions` collects what a later connection can resume. */
async function visit(port: number, options: ConnectionOptions, sessions: Buffer[] = []): Promise<Visit> {
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ciphers: WEAK_TOO, ...options });
  let text = '';
  let resumed = false;
  socket.on('error', () => {});
  socket.on('session', (session) => sessions.push(session));
  socket.on('secureConnect', () => (resumed = socket.isSessionReused()));
  socket.setEncoding('utf8').on('data', (part: string) => (text += part));
  socket.write('GET /version HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
  await new Promise((resolve) => socket.on('close', resolve));
  return { served: text.startsWith('HTTP/1.1 200'), resumed };
}

const servers: readonly (readonly [name: string, serve: Serve])[] = [
  ['grpc-js', serveGrpcJs],
  ['the own codec', serve],
];

describe.each(servers)('served by %s', (_name, serveWith) => {
  test.each(cases)('$what: served $served', async (one) => {
    const folder = new CertificateFolder(root, server);
    writeFileSync(folder.file('ca.pem'), one.trusted);
    if (one.revoked !== undefined) writeFileSync(folder.file('crl'), one.revoked);
    const crl = one.revoked === undefined ? {} : { crlFile: folder.file('crl') };
    await using serving = await startServing(serveWith, { tls: tlsOf(folder, crl) });
    const expected = one.served && one.stricter === undefined;
    for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
      const options = { cert: one.certificates, key: one.key, maxVersion, ALPNProtocols: ['http/1.1'] };
      expect(await visit(serving.port, options), maxVersion).toMatchObject({ served: expected });
    }
  });
});

test('a client that offers no protocol is judged by the same rules, but for its purpose', async () => {
  const folder = new CertificateFolder(root, server);
  await using serving = await startServing(serve, { tls: tlsOf(folder) });
  const [good, bad] = [issue('good', root), issue('bad', issue('another'))];
  expect((await visit(serving.port, { cert: good.certificate, key: good.key })).served).toBe(true);
  expect((await visit(serving.port, { cert: bad.certificate, key: bad.key })).served).toBe(false);
});

test('what stands in for OpenSSL where it refuses a purpose: the signer must be an authority, be valid, and have signed', () => {
  const x509 = ({ certificate }: Identity): X509Certificate => new X509Certificate(certificate);
  const usages = ['any'] as const;
  const today = Date.parse('2026-01-01');
  const twin = issue('root');
  const expired = issue('expired', root, { authority: true, notAfter: '210101000000Z' });
  const noAuthority = issue('client', root);
  const judged = (issuer: Identity, trusted: Identity): boolean =>
    mayBeClient(x509(issue('client', issuer, { usages })), [x509(trusted)], today);
  expect(judged(root, root)).toBe(true);
  expect(judged(twin, root), 'an authority of the same name').toBe(false);
  expect(judged(expired, expired)).toBe(false);
  expect(judged(noAuthority, noAuthority)).toBe(false);
});

test('a list in PEM counts as one in DER, and so do several in one file', async () => {
  const [first, second, third] = [issue('first', root), issue('second', root), issue('third', root)];
  const folder = new CertificateFolder(root, server);
  const crlFile = folder.file('crl');
  writeFileSync(crlFile, revocationList(root, [first]) + revocationList(root, [second]));
  await using serving = await startServing(serve, { tls: tlsOf(folder, { crlFile }) });
  const served = async ({ certificate: cert, key }: Identity): Promise<boolean> =>
    (await visit(serving.port, { cert, key })).served;
  expect([await served(first), await served(second), await served(third)]).toEqual([false, false, true]);
});

test('a file that is no list of revoked certificates fails the start', async () => {
  const folder = new CertificateFolder(root, server);
  const crlFile = folder.file('crl');
  const certificate = new X509Certificate(root.certificate).raw;
  for (const content of ['', 'nothing', root.certificate, certificate, Buffer.from('3003020101', 'hex')]) {
    writeFileSync(crlFile, content);
    await expect(startServing(serve, { tls: tlsOf(folder, { crlFile }) })).rejects.toThrow(
      'no certificate revocation list',
    );
  }
});

test('of several CommonNames the last one counts, as in Go', async () => {
  const folder = new CertificateFolder(root, server);
  const tls = tlsOf(folder, { allowedCommonNames: ['good'] });
  await using serving = await startServing(serve, { tls });
  const named = (...commonNames: readonly string[]): ConnectionOptions => {
    const { certificate: cert, key } = issue('', root, { commonNames });
    return { cert, key };
  };
  expect((await visit(serving.port, named('evil', 'good'))).served).toBe(true);
  expect((await visit(serving.port, named('good', 'evil'))).served).toBe(false);
  expect((await visit(serving.port, named())).served).toBe(false);
});

describe.each(['TLSv1.2', 'TLSv1.3'] as const)('sessions of %s', (maxVersion) => {
  const client = issue('client', root);
  const withCertificate: ConnectionOptions = { cert: client.certificate, key: client.key, maxVersion };

  test('are resumed where nobody is asked for a certificate', async () => {
    const folder = new CertificateFolder(root, server);
    const { trustedCaFile: _, ...tls } = tlsOf(folder, { clientCertAuth: false });
    await using serving = await startServing(serve, { tls });
    const sessions: Buffer[] = [];
    expect(await visit(serving.port, { maxVersion }, sessions)).toEqual({ served: true, resumed: false });
    expect(await visit(serving.port, { maxVersion, session: sessions[0]! })).toEqual({ served: true, resumed: true });
  });

  test('are not resumed where certificates are asked for: each is judged as it is today', async () => {
    const folder = new CertificateFolder(root, server);
    await using serving = await startServing(serve, { tls: tlsOf(folder) });
    const sessions: Buffer[] = [];
    expect((await visit(serving.port, withCertificate, sessions)).served).toBe(true);
    for (const session of sessions)
      expect(await visit(serving.port, { ...withCertificate, session })).toEqual({ served: true, resumed: false });
    const expired = issue('client', root, { notAfter: '210101000000Z' });
    for (const session of sessions) {
      const late = { cert: expired.certificate, key: expired.key, maxVersion, session };
      expect(await visit(serving.port, late)).toEqual({ served: false, resumed: false });
    }
  });

  test('without a certificate never count as verified', async () => {
    const folder = new CertificateFolder(root, server);
    await using serving = await startServing(serve, { tls: tlsOf(folder) });
    const sessions: Buffer[] = [];
    expect((await visit(serving.port, { maxVersion }, sessions)).served).toBe(false);
    expect((await visit(serving.port, withCertificate, sessions)).served).toBe(true);
    for (const session of sessions)
      expect(await visit(serving.port, { maxVersion, session })).toMatchObject({ served: false });
  });
});

test('a client without a certificate is told so', async () => {
  const folder = new CertificateFolder(root, server);
  await using serving = await startServing(serve, { tls: tlsOf(folder) });
  for (const ALPNProtocols of [['h2'], ['http/1.1'], undefined]) {
    const socket: TLSSocket = connect({
      host: '127.0.0.1',
      port: serving.port,
      ca: root.certificate,
      ...(ALPNProtocols === undefined ? {} : { ALPNProtocols }),
    });
    const [error] = (await once(socket, 'error')) as [Error];
    expect(error.message).toContain('alert certificate required');
  }
  await until(() => serving.observer.connections === 0);
});
