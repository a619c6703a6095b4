import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { EventEmitter, once } from 'node:events';
import { connect as connectHttp2, constants } from 'node:http2';
import { get } from 'node:https';
import { connect as connectTcp } from 'node:net';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import * as grpc from '@grpc/grpc-js';
import { describe, expect, test } from 'vitest';
import { serve, serveGrpcJs, type TlsOptions } from '@engram/transport';
import { CLIENT_PREFACE, rstStreamFrame, settingsFrame } from '@engram/http2';
import { SimClock } from '@engram/sim';
import { opensslCiphers } from '../src/tls-ciphers.ts';
import { CertificateFolder } from './support/certificate-folder.ts';
import { type Identity, issue, revocationList } from './support/certificates.ts';
import { RawClient } from './support/raw-client.ts';
import { ByteClient, type Serve, type Serving, startServing, until } from './support/serving.ts';

const ca = issue('test ca');
const strangerCa = issue('another ca');
const server = issue('server', ca);
const client = issue('alice', ca);
const stranger = issue('mallory', strangerCa);

const withClients = (folder: CertificateFolder): Partial<TlsOptions> => ({
  clientCertAuth: true,
  trustedCaFile: folder.file('ca.pem'),
});

function credentials(identity?: Identity): grpc.ChannelCredentials {
  const root = Buffer.from(ca.certificate);
  if (identity === undefined) return grpc.credentials.createSsl(root);
  return grpc.credentials.createSsl(root, Buffer.from(identity.key), Buffer.from(identity.certificate));
}

function clientOf(serving: Serving, identity?: Identity): ByteClient {
  return new ByteClient(`localhost:${serving.port}`, credentials(identity));
}

async function handshake(serving: Serving, options: ConnectionOptions = {}): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', port: serving.port, ca: ca.certificate, ...options });
  await once(socket, 'secureConnect');
  return socket;
}

function httpsGet(serving: Serving, identity?: Identity): Promise<string> {
  const { key, certificate: cert } = identity ?? {};
  return new Promise((resolve, reject) => {
    const request = get({
      host: '127.0.0.1',
      port: serving.port,
      path: '/version?q=1',
      ca: ca.certificate,
      key,
      cert,
      agent: false,
    });
    request.on('error', reject);
    request.on('response', (response) => {
      response.setEncoding('utf8').on('data', (body: string) => resolve(`${response.statusCode} ${body}`));
    });
  });
}

const servers: readonly (readonly [name: string, serve: Serve])[] = [
  ['grpc-js', serveGrpcJs],
  ['the own codec', serve],
];

describe.each(servers)('TLS served by %s', (_name, serveWith) => {
  test('edge 127: gRPC and HTTP/1.1 on one port, by ALPN', async () => {
    await using serving = await startServing(serveWith, { tls: new CertificateFolder(ca, server).tls() });
    using grpcClient = clientOf(serving);
    expect((await grpcClient.unary('/test.Echo/Sync', 'hi')).toString()).toBe('hi');
    expect((await grpcClient.unary('/test.Echo/CommonName', '')).toString()).toBe('undefined');
    expect(await httpsGet(serving)).toBe('200 GET /version 1 ');
    expect((await handshake(serving, { ALPNProtocols: ['h2', 'http/1.1'] })).alpnProtocol).toBe('h2');
    expect((await handshake(serving)).alpnProtocol).toBe(false);
  });

  test('big messages both ways', async () => {
    await using serving = await startServing(serveWith, { tls: new CertificateFolder(ca, server).tls() });
    using grpcClient = clientOf(serving);
    const request = Buffer.alloc(2_000_000, 'abcdefg');
    expect((await grpcClient.unary('/test.Echo/Sync', request)).equals(request)).toBe(true);
    expect(await grpcClient.unary('/test.Echo/Big', '20000000')).toHaveLength(20_000_000);
  });

  test('a client certificate is asked for, checked, and names the caller', async () => {
    const folder = new CertificateFolder(ca, server);
    await using serving = await startServing(serveWith, { tls: folder.tls(withClients(folder)) });
    using alice = clientOf(serving, client);
    using nobody = clientOf(serving);
    using mallory = clientOf(serving, stranger);
    expect((await alice.unary('/test.Echo/CommonName', '')).toString()).toBe('alice');
    expect(await httpsGet(serving, client)).toBe('200 GET /version 1 ');
    await expect(nobody.unary('/test.Echo/Sync', 'x')).rejects.toMatchObject({ code: 14 });
    await expect(mallory.unary('/test.Echo/Sync', 'x')).rejects.toMatchObject({ code: 14 });
  });

  test('a trusted CA alone asks for certificates, too', async () => {
    const folder = new CertificateFolder(ca, server);
    const tls = folder.tls({ trustedCaFile: folder.file('ca.pem') });
    await using serving = await startServing(serveWith, { tls });
    using nobody = clientOf(serving);
    await expect(nobody.unary('/test.Echo/Sync', 'x')).rejects.toMatchObject({ code: 14 });
  });

  test.each([
    { changes: { allowedCommonNames: ['bob', 'alice'] }, served: true },
    { changes: { allowedCommonNames: ['bob'] }, served: false },
    { changes: { allowedHostnames: ['localhost'] }, served: true },
    { changes: { allowedHostnames: ['elsewhere'] }, served: false },
  ])('$changes: served $served', async ({ changes, served }) => {
    const folder = new CertificateFolder(ca, server);
    await using serving = await startServing(serveWith, { tls: folder.tls({ ...withClients(folder), ...changes }) });
    using alice = clientOf(serving, client);
    const answer = alice.unary('/test.Echo/Sync', 'x');
    if (served) expect((await answer).toString()).toBe('x');
    else await expect(answer).rejects.toMatchObject({ code: 14 });
  });

  test('a revoked certificate is refused, as soon as the list says so', async () => {
    const folder = new CertificateFolder(ca, server);
    const crlFile = folder.file('crl.pem');
    writeFileSync(crlFile, revocationList(ca, [issue('someone else', ca)]));
    await using serving = await startServing(serveWith, { tls: folder.tls({ ...withClients(folder), crlFile }) });
    using before = clientOf(serving, client);
    expect((await before.unary('/test.Echo/CommonName', '')).toString()).toBe('alice');
    writeFileSync(crlFile, revocationList(ca, [issue('someone else', ca), client]));
    using after = clientOf(serving, client);
    await expect(after.unary('/test.Echo/CommonName', '')).rejects.toMatchObject({ code: 14 });
  });

  test('changed certificates are used for the next connection, broken ones never', async () => {
    const folder = new CertificateFolder(ca, server);
    await using serving = await startServing(serveWith, { tls: folder.tls() });
    const subject = async (): Promise<unknown> => (await handshake(serving)).getPeerCertificate().subject.CN;
    using before = clientOf(serving);
    await before.unary('/test.Echo/Sync', 'x');
    expect(await subject()).toBe('server');
    const renewed = issue('renewed', ca);
    writeFileSync(folder.file('server.pem'), renewed.certificate); // the matching key is not written yet
    expect(await subject()).toBe('server');
    writeFileSync(folder.file('server-key.pem'), renewed.key);
    expect(await subject()).toBe('renewed');
    writeFileSync(folder.file('server.pem'), 'garbage');
    expect(await subject()).toBe('renewed');
    // A link to itself: the system says neither what the file is nor that there is none.
    rmSync(folder.file('server.pem'));
    symlinkSync(folder.file('server.pem'), folder.file('server.pem'));
    expect(await subject()).toBe('renewed');
    await before.unary('/test.Echo/Sync', 'the connection from before goes on');
  });

  test('versions: what is below the least is refused, the most is kept to', async () => {
    const folder = new CertificateFolder(ca, server);
    await using newest = await startServing(serveWith, { tls: folder.tls({ minVersion: 'TLS1.3' }) });
    await using older = await startServing(serveWith, { tls: folder.tls({ maxVersion: 'TLS1.2' }) });
    await expect(handshake(newest, { maxVersion: 'TLSv1.2' })).rejects.toThrow();
    expect((await handshake(newest)).getProtocol()).toBe('TLSv1.3');
    expect((await handshake(older)).getProtocol()).toBe('TLSv1.2');
  });

  test('cipher suites by their names in Go', async () => {
    const folder = new CertificateFolder(ca, server);
    const tls = folder.tls({ maxVersion: 'TLS1.2', cipherSuites: ['TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384'] });
    await using serving = await startServing(serveWith, { tls });
    expect((await handshake(serving)).getCipher().name).toBe('ECDHE-ECDSA-AES256-GCM-SHA384');
  });

  test('protocols: a port for gRPC only takes nobody without h2', async () => {
    await using serving = await startServing(serveWith, {
      tls: new CertificateFolder(ca, server).tls(),
      protocols: 'grpc',
    });
    using grpcClient = clientOf(serving);
    expect((await grpcClient.unary('/test.Echo/Sync', 'hi')).toString()).toBe('hi');
    await expect(httpsGet(serving)).rejects.toThrow();
  });

  test('a handshake that does not come to its end is cut, and leaves nothing', async () => {
    const tls = new CertificateFolder(ca, server).tls();
    await using serving = await startServing(serveWith, { tls, timeouts: { handshakeMs: 50 } });
    const socket = connectTcp(serving.port, '127.0.0.1');
    await once(socket, 'close');
    await until(() => serving.observer.connections === 0);
  });

  test('a connection that ends behind its handshake leaves nothing', async () => {
    await using serving = await startServing(serveWith, { tls: new CertificateFolder(ca, server).tls() });
    (await handshake(serving)).destroy();
    await until(() => serving.observer.connections === 0);
  });

  test('files that are not there fail the start', async () => {
    const folder = new CertificateFolder(ca, server);
    const tls = folder.tls({ certFile: folder.file('missing.pem') });
    await expect(startServing(serveWith, { tls })).rejects.toThrow('missing.pem');
  });
});

test('a drain does not wait for who has not begun a handshake', async () => {
  // The clock stands still, so no timeout would end this.
  const tls = new CertificateFolder(ca, server).tls();
  await using serving = await startServing(serve, { tls, clock: new SimClock() });
  const silent = connectTcp(serving.port, '127.0.0.1').on('error', () => {});
  silent.write(Buffer.of(22, 3)); // the beginning of one
  await until(() => serving.observer.connections === 1);
  await serving.server.drain(new AbortController().signal);
  expect(serving.observer.connections).toBe(0);
  silent.destroy();
});

test('plain requests over HTTP/2 under TLS reach the HTTP handler', async () => {
  await using serving = await startServing(serve, {
    tls: new CertificateFolder(ca, server).tls(),
    maxRequestBytes: 1000,
  });
  const session = connectHttp2(`https://localhost:${serving.port}`, { ca: ca.certificate });
  const ask = async (headers: Record<string, string>, body = ''): Promise<string> => {
    const stream = session.request(headers, { endStream: body === '' });
    if (body !== '') stream.end(body);
    const [answer] = (await once(stream, 'response')) as [Record<string, unknown>];
    let text = '';
    for await (const chunk of stream.setEncoding('utf8')) text += String(chunk);
    return `${String(answer[':status'])} ${text}`;
  };
  expect(await ask({ ':path': '/version?q=a%20b' })).toBe('200 GET /version a b ');
  expect(await ask({ ':method': 'POST', ':path': '/v3/kv/put' }, '{"key":1}')).toBe(
    '404 POST /v3/kv/put null {"key":1}',
  );
  expect(await ask({ ':method': 'POST', ':path': '/x', 'content-type': 'application/grpc-web' }, 'a')).toBe('415 ');
  expect(await ask({ ':method': 'HEAD', ':path': '/version' })).toBe('200 ');
  expect(await ask({ ':method': 'POST', ':path': '/v3/kv/put' }, 'x'.repeat(2001))).toBe('413 ');
  await new Promise<void>((resolve) => session.close(resolve));
});

test.each([
  { protocols: 'http' as const, answer: '200 GET /version null ', why: 'a port for plain HTTP speaks HTTP/2 as well' },
  {
    protocols: 'grpc' as const,
    answer: '415 invalid gRPC request content-type ""\n',
    why: 'a port for gRPC serves no other',
  },
])('$why', async ({ protocols, answer }) => {
  await using serving = await startServing(serve, { tls: new CertificateFolder(ca, server).tls(), protocols });
  const session = connectHttp2(`https://localhost:${serving.port}`, { ca: ca.certificate });
  const stream = session.request({ ':path': '/version' });
  const [head] = (await once(stream, 'response')) as [Record<string, unknown>];
  let text = '';
  for await (const chunk of stream.setEncoding('utf8')) text += String(chunk);
  expect(`${String(head[':status'])} ${text}`).toBe(answer);
  await new Promise<void>((resolve) => session.close(resolve));
});

test('unfinished bodies of plain HTTP/2 are bounded together', async () => {
  await using serving = await startServing(serve, { tls: new CertificateFolder(ca, server).tls() });
  const session = connectHttp2(`https://localhost:${serving.port}`, { ca: ca.certificate });
  session.on('error', () => {});
  let refused = 0;
  // 90 MB are sent; 64 MiB are accepted.
  for (let at = 0; at < 30; at += 1) {
    const stream = session.request({ ':method': 'POST', ':path': '/version' });
    stream.on('error', () => {});
    stream.on('close', () => {
      if (stream.rstCode === constants.NGHTTP2_ENHANCE_YOUR_CALM) refused += 1;
    });
    stream.write(Buffer.alloc(3_000_000));
  }
  await until(() => refused > 0);
  session.destroy();
  await until(() => serving.observer.connections === 0);
});

test('a body that comes byte by byte weighs what it takes to keep', async () => {
  await using serving = await startServing(serve, { tls: new CertificateFolder(ca, server).tls() });
  using client = new RawClient(await handshake(serving, { ALPNProtocols: ['h2'] }));
  client.write(Buffer.from(CLIENT_PREFACE), settingsFrame([]));
  const bytes = (streamId: number): Buffer =>
    Buffer.concat(Array.from({ length: 4_000 }, () => client.data(streamId, Buffer.of(0))));
  const post = { ':method': 'POST', ':scheme': 'https', ':path': '/', ':authority': 'h' };
  // 65 bodies of 4,000 bytes fit. More would test another limit, because the rest of a refused body costs tokens.
  for (let id = 1; id <= 131; id += 2) client.write(client.headers(id, post), bytes(id));
  const refused = await client.frame(({ type }) => type === 'RST_STREAM');
  expect(await client.outcome(refused.streamId)).toBe('RST_STREAM ENHANCE_YOUR_CALM');
  expect(refused.streamId).toBe(131);
  // The bytes that the streams held are released.
  for (let id = 1; id < 131; id += 2) client.write(rstStreamFrame(id, 8));
  client.write(client.headers(201, post), client.data(201, Buffer.of(0), true));
  const answered = await client.frame(({ streamId }) => streamId === 201);
  expect(answered.fields[0]).toBe(':status: 404');
  client.write(client.headers(203, post), bytes(203), client.data(203, Buffer.of(0), true));
  expect((await client.frame(({ streamId }) => streamId === 203)).fields[0]).toBe(':status: 404');
});

test.each([
  { when: 'while it answers', early: true },
  { when: 'before it asks', early: false },
])('a handler of plain HTTP/2 learns that the client has gone $when', async ({ early }) => {
  const signals: AbortSignal[] = [];
  const steps = new EventEmitter();
  const called = once(steps, 'called');
  await using serving = await startServing(serve, {
    tls: new CertificateFolder(ca, server).tls(),
    async http(request) {
      if (early) signals.push(request.signal);
      steps.emit('called');
      await once(steps, 'gone');
      signals.push(request.signal);
      return { status: 200, headers: {}, body: 'for nobody' };
    },
  });
  const session = connectHttp2(`https://localhost:${serving.port}`, { ca: ca.certificate });
  session.request({ ':path': '/' }).on('error', () => {});
  await called;
  if (early) expect(signals[0]?.aborted).toBe(false);
  session.destroy();
  await until(() => serving.observer.connections === 0);
  steps.emit('gone');
  await until(() => signals.length === (early ? 2 : 1));
  expect(signals.every(({ aborted }) => aborted)).toBe(true);
  expect(signals[0]?.reason).toMatchObject({ name: 'AbortError' });
});

test('an unknown cipher suite is refused by name', () => {
  expect(() => opensslCiphers(['TLS_ROT13'])).toThrow('unexpected TLS cipher suite "TLS_ROT13"');
});
