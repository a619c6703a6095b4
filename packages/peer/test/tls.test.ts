import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectPlain } from 'node:net';
import { connect } from 'node:tls';
import { type Clock, logPosition } from '@engram/core';
import { PeerLinks, type PeerTls, servePeers, Traffic } from '@engram/peer';
import { realClock } from '@engram/sim';
import { BoundPort } from '@engram/transport';
import { Client, credentials, status } from '@grpc/grpc-js';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { addressFault } from '../src/dialer-address.ts';
import { channelOptions, FOLLOW } from '../src/methods.ts';
import { STRANGER_BYTES_MAX } from '../src/receive-limits.ts';
import { Echo, portOf } from './echo.ts';

const CLUSTER = 0xc1n;
const never = new AbortController().signal;

let folder = '';
const file = (name: string): string => join(folder, name);
const openssl = (...args: string[]): void => void execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

/** Makes a certificate for `names`, signed by `authority` or by itself. */
function certify(name: string, names: string, authority?: string): void {
  writeFileSync(join(folder, `${name}.ext`), `subjectAltName=${names}`);
  openssl('req', ...newKey, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=${name}`);
  const signer =
    authority === undefined
      ? ['-signkey', `${name}.key`]
      : ['-CA', `${authority}.crt`, '-CAkey', `${authority}.key`, '-CAcreateserial'];
  openssl('x509', '-req', '-in', `${name}.csr`, ...signer, '-out', `${name}.crt`, '-extfile', `${name}.ext`);
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'engram-peer-tls-'));
  for (const ca of ['ca', 'other-ca'])
    openssl('req', '-x509', ...newKey, '-keyout', `${ca}.key`, '-out', `${ca}.crt`, '-subj', `/CN=${ca}`);
  certify('member', 'IP:127.0.0.1', 'ca');
  certify('elsewhere', 'IP:127.0.0.9,DNS:elsewhere', 'ca');
  certify('stranger', 'IP:127.0.0.1', 'other-ca');
  certify('alone', 'IP:127.0.0.9');
  certify('named', 'DNS:localhost,DNS:*.example', 'ca');
  certify('nameless', 'email:member@example', 'ca');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let closing: AsyncDisposable[] = [];
afterEach(async () => {
  for (const each of closing.reverse()) await each[Symbol.asyncDispose]();
  closing = [];
});

const pair = (name: string): PeerTls['dialed'] => ({ certFile: file(`${name}.crt`), keyFile: file(`${name}.key`) });
const bounds = { minVersion: 'TLS1.2', cipherSuites: [] } as const;

function authority(served: string, dialed = served, changes: Partial<PeerTls['served']> = {}): PeerTls {
  return {
    served: { ...pair(served), ...bounds, trustedCaFile: file('ca.crt'), clientCertAuth: true, ...changes },
    dialed: pair(dialed),
    selfSigned: false,
  };
}

const selfSigned = (): PeerTls => ({
  served: { ...pair('alone'), ...bounds, clientCertAuth: false },
  dialed: pair('alone'),
  selfSigned: true,
});

/** A logger that records warnings with their errors. */
class Lines {
  readonly lines: string[] = [];
  readonly debug = (): void => {};
  readonly info = (): void => {};
  readonly error = (): void => {};
  readonly warn = (fields: Readonly<Record<string, unknown>>, text: string): void => {
    this.lines.push(`${text}: ${String(fields['error'])}`);
  };

  async until(pattern: RegExp): Promise<void> {
    await vi.waitFor(() => expect(this.lines.join('\n')).toMatch(pattern), { timeout: 10_000, interval: 5 });
  }
}

interface Served {
  readonly port: number;
  readonly service: Echo;
  readonly log: Lines;
}

async function serving(tls: PeerTls, secure = true, clock: Clock = realClock): Promise<Served> {
  const [service, log] = [new Echo(), new Lines()];
  const port = await BoundPort.bind({ kind: 'tcp', host: '127.0.0.1', port: 0 });
  const server = servePeers({
    clusterId: CLUSTER,
    memberId: 2n,
    storeId: 5n,
    ports: [{ port, secure }],
    tls,
    service,
    traffic: new Traffic(),
    queuedBytesMax: 4 << 20,
    clock,
    logger: log,
  });
  closing.push(server);
  return { port: portOf(port), service, log };
}

const serve = async (tls: PeerTls, secure = true): Promise<number> => (await serving(tls, secure)).port;

interface Dialed {
  readonly mine: Echo;
  readonly links: PeerLinks;
  readonly log: Lines;
}

function dial(port: number, tls: PeerTls | undefined, scheme = 'https'): Dialed {
  const [mine, log] = [new Echo(), new Lines()];
  const links = new PeerLinks({
    clusterId: CLUSTER,
    memberId: 1n,
    storeId: 5n,
    tls,
    clock: realClock,
    logger: log,
    service: () => mine,
  });
  closing.push({ [Symbol.asyncDispose]: async () => links[Symbol.dispose]() });
  links.setMembers([{ id: 2n, peerUrls: [`${scheme}://127.0.0.1:${port}`] }]);
  return { mine, links, log };
}

async function answers({ mine, links }: Dialed): Promise<void> {
  await mine.until(() => mine.links.includes('connected 2'));
  const answer = await links.call(2n, Buffer.from('x'), never);
  expect(Buffer.from(answer).toString()).toBe('answer to x');
}

/** Waits until the first attempt to connect is refused: the stream of batches fails with it. */
async function refused({ mine, links }: Dialed): Promise<void> {
  const following = links.follow(2n, logPosition(1), never)[Symbol.asyncIterator]().next();
  await expect(following).rejects.toMatchObject({ fault: 'lost' });
  expect(mine.links).toEqual([]);
}

test('members of one authority meet', async () => {
  await answers(dial(await serve(authority('member')), authority('member')));
});

test('a member shows its certificate for dialing where it has one', async () => {
  const port = await serve(authority('member'));
  await answers(dial(port, authority('stranger', 'member')));
  await refused(dial(port, authority('member', 'stranger')));
});

test('whoever shows a certificate of another authority, or none, is not served', async () => {
  const port = await serve(authority('member'));
  await refused(dial(port, { ...selfSigned(), dialed: pair('stranger') }));
  await refused(dial(port, undefined, 'http'));
});

test.each(['stranger', 'elsewhere'])('a server with the certificate of %s is not trusted', async (served) => {
  await refused(dial(await serve(authority(served)), authority('member')));
});

test('whoever shows no certificate is cut off after the handshake', async () => {
  const { port, log } = await serving(authority('member'));
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['h2'] });
  socket.on('error', () => {});
  const got: Buffer[] = [];
  socket.on('data', (bytes: Buffer) => got.push(bytes));
  await once(socket, 'close');
  await log.until(/rejected connection on peer endpoint: no client certificate/);
  expect(Buffer.concat(got)).toHaveLength(0);
});

test.each([
  ['nothing', Buffer.alloc(0)],
  ['the head of a record, and no more', Buffer.from([22, 3, 1, 2, 0, 1])],
])('whoever connects and says %s is cut off at the deadline of the handshake', async (_, said) => {
  const ends: (() => void)[] = [];
  const after: Clock['after'] = (delayMs, fire) => {
    if (delayMs === 10_000) ends.push(fire);
    return realClock.after(delayMs, fire);
  };
  const { port, log } = await serving(authority('member'), true, { ...realClock, after });
  const socket = connectPlain(port, '127.0.0.1').resume();
  socket.on('error', () => {}); // what it said may be unread, so that it is reset
  await once(socket, 'connect');
  socket.write(said);
  // As a stranger it has the same time: the handshake's end is the later one.
  await vi.waitFor(() => expect(ends).toHaveLength(2));
  const closed = new Promise((resolve) => socket.once('close', resolve));
  ends[1]!();
  await closed;
  await log.until(/TLS handshake timeout/);
});

test('members with certificates that each has signed for itself meet', async () => {
  await answers(dial(await serve(selfSigned()), selfSigned()));
});

test('a self-signed server is not trusted by a member with an authority', async () => {
  await refused(dial(await serve(selfSigned()), authority('member')));
});

test('an http URL is served without TLS also where there are certificates', async () => {
  await answers(dial(await serve(authority('member'), false), authority('member'), 'http'));
});

test.each([
  { changes: { allowedCommonNames: ['other', 'member'] } },
  { changes: { allowedHostnames: ['elsewhere', '127.0.0.1'] } },
])('members that $changes allows meet', async ({ changes }) => {
  const tls = authority('member', 'member', changes);
  await answers(dial(await serve(tls), tls));
});

const notAllowed = [
  { changes: { allowedCommonNames: ['other'] }, says: /CommonName "member" is not allowed/ },
  { changes: { allowedHostnames: ['elsewhere'] }, says: /certificate is for none of the allowed hostnames/ },
];

test.each(notAllowed)('who dials and is not of $changes is refused; both sides say so', async ({ changes, says }) => {
  const { port, service, log } = await serving(authority('member', 'member', changes));
  const dialed = dial(port, authority('member'));
  await refused(dialed);
  await dialed.log.until(/cannot reach a member: .*certificate of this peer is not allowed/);
  await log.until(new RegExp(`rejected connection on peer endpoint: ${says.source}`));
  expect([service.messages, service.links]).toEqual([[], []]);
});

test('who is refused sends no more than a stranger may', async () => {
  const { port } = await serving(authority('member', 'member', { allowedCommonNames: ['other'] }));
  const [ca, key, certificate] = ['ca.crt', 'member.key', 'member.crt'].map((name) => readFileSync(file(name)));
  const client = new Client(`127.0.0.1:${port}`, credentials.createSsl(ca, key, certificate), channelOptions);
  closing.push({ [Symbol.asyncDispose]: async () => client.close() });
  const follow = (bytes: number): Promise<unknown> => {
    const raw = (message: Buffer): Buffer => message;
    const stream = client.makeServerStreamRequest(FOLLOW, raw, raw, Buffer.alloc(bytes));
    return new Promise((resolve) => stream.on('error', resolve).resume());
  };
  expect(await follow(0)).toMatchObject({ code: status.PERMISSION_DENIED });
  expect(await follow(STRANGER_BYTES_MAX + 1)).toMatchObject({ code: status.RESOURCE_EXHAUSTED });
});

test.each(notAllowed)('who is dialed and is not of $changes is not trusted', async ({ changes, says }) => {
  const { port, service } = await serving(authority('member'));
  const dialed = dial(port, authority('member', 'member', changes));
  await refused(dialed);
  await dialed.log.until(new RegExp(`cannot reach a member: .*${says.source}`));
  expect([service.messages, service.links]).toEqual([[], []]);
});

/** Revokes a certificate, and writes a new revocation list of `ca`. */
function revoke(name: string): void {
  const config = '[ca]\ndefault_ca=list\n[list]\ndatabase=index.txt\ndefault_md=sha256\ndefault_crl_days=30\n';
  writeFileSync(file('list.cnf'), config);
  writeFileSync(file('index.txt'), '');
  const ca = ['ca', '-config', 'list.cnf', '-keyfile', 'ca.key', '-cert', 'ca.crt'];
  openssl(...ca, '-revoke', `${name}.crt`);
  openssl(...ca, '-gencrl', '-out', 'list.crl');
}

test('who dials with a revoked certificate is refused, as soon as the list says so; both sides say so', async () => {
  revoke('elsewhere');
  const { port, service, log } = await serving(authority('member', 'member', { crlFile: file('list.crl') }));
  await answers(dial(port, authority('member')));
  revoke('member');
  const dialed = dial(port, authority('member'));
  await refused(dialed);
  await log.until(/rejected connection on peer endpoint: certificate serial \w+ revoked/);
  await dialed.log.until(/cannot reach a member: .*certificate of this peer is not allowed/);
  expect([service.messages, service.links]).toEqual([[], []]);
});

test('who is dialed and shows a revoked certificate is not trusted, as soon as the list says so', async () => {
  revoke('elsewhere');
  const { port, service } = await serving(authority('member'));
  const careful = authority('member', 'member', { crlFile: file('list.crl') });
  await answers(dial(port, careful));
  revoke('member');
  const dialed = dial(port, careful);
  await refused(dialed);
  await dialed.log.until(/cannot reach a member: .*certificate serial \w+ revoked/);
  expect([service.messages, service.links]).toEqual([[], []]);
});

test('a refused member comes in once it has another certificate, without a restart', async () => {
  const port = await serve(authority('member', 'member', { allowedCommonNames: ['member'] }));
  const renew = (from: string): void => {
    copyFileSync(file(`${from}.key`), file('renewed.key'));
    copyFileSync(file(`${from}.crt`), file('renewed.crt'));
  };
  renew('elsewhere');
  const dialed = dial(port, authority('member', 'renewed'));
  await refused(dialed);
  renew('member');
  await answers(dialed);
});

const newest = { minVersion: 'TLS1.3', cipherSuites: [] } as const;
const older = { minVersion: 'TLS1.2', maxVersion: 'TLS1.2' } as const;
const [one, another] = ['TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256', 'TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384'];

test.each([
  { served: newest, dialed: newest, why: 'both speak TLS 1.3' },
  { served: { ...older, cipherSuites: [one] }, dialed: older, why: 'one names a suite that the other has' },
])('members meet where $why', async ({ served, dialed }) => {
  await answers(dial(await serve(authority('member', 'member', served)), authority('member', 'member', dialed)));
});

test.each([
  { served: newest, dialed: older, why: 'share no version of TLS' },
  { served: older, dialed: newest, why: 'share no version of TLS, the other way round' },
  { served: { ...older, cipherSuites: [one] }, dialed: { ...older, cipherSuites: [another] }, why: 'share no suite' },
])('members that $why do not meet; the one that is dialed says so', async ({ served, dialed }) => {
  const { port, log } = await serving(authority('member', 'member', served));
  await refused(dial(port, authority('member', 'member', dialed)));
  await log.until(/rejected connection on peer endpoint: .*(unsupported protocol|no shared cipher|protocol version)/);
});

describe('where dialers are held against their addresses', () => {
  const checking = (): PeerTls => ({ ...authority('member'), checkDialers: true });

  test.each(['member', 'named', 'nameless'])('who dials with the certificate of %s is served', async (name) => {
    await answers(dial(await serve(checking()), authority('member', name)));
  });

  test('who dials from elsewhere is refused; both sides say so', async () => {
    const { port, service, log } = await serving(checking());
    const dialed = dial(port, authority('member', 'elsewhere'));
    await refused(dialed);
    await log.until(/rejected connection on peer endpoint: the certificate is not for 127.0.0.1, but for IP/);
    await dialed.log.until(/cannot reach a member: .*certificate of this peer is not allowed/);
    expect([service.messages, service.links]).toEqual([[], []]);
  });

  test('without the check it is served', async () => {
    await answers(dial(await serve(authority('member')), authority('member', 'elsewhere')));
  });
});

test('a member with a certificate says that it dials in plain text', async () => {
  const { log } = dial(await serve(authority('member'), false), authority('member'), 'http');
  expect(log.lines.join()).toMatch('this member has a certificate, and dials in plain text');
});

test.each([
  { names: 'IP:192.0.2.7', address: '192.0.2.7', fits: true },
  { names: 'IP:192.0.2.7', address: '::ffff:192.0.2.7', fits: true },
  { names: 'IP:192.0.2.7', address: '192.0.2.8', fits: false },
  { names: 'DNS:a.example', address: '192.0.2.7', fits: true },
  { names: 'DNS:b.example', address: '192.0.2.7', fits: false },
  { names: 'DNS:*.test', address: '192.0.2.7', fits: true },
  { names: 'DNS:*.other', address: '192.0.2.7', fits: false },
  { names: 'DNS:unknown.example', address: '192.0.2.9', fits: false },
  { names: 'IP:192.0.2.8,DNS:a.example', address: '192.0.2.7', fits: true },
  { names: 'email:a@b', address: '192.0.2.7', fits: true },
  // Of an interface's own network, and of a connection that is gone: no certificate names those.
  { names: 'IP:fe80::1', address: 'fe80::1%eth0', fits: false },
  { names: 'IP:192.0.2.7', address: '', fits: false },
])('a certificate for $names fits $address: $fits', async ({ names, address, fits }) => {
  const name = names.replace(/\W/g, '-');
  certify(name, names, 'ca');
  const none = (): Promise<never> => Promise.reject(new Error('not found'));
  const resolver = {
    reverse: (asked: string) => (asked === '192.0.2.7' ? Promise.resolve(['host.test.']) : none()),
    addresses: (asked: string) => (asked === 'a.example' ? Promise.resolve(['192.0.2.7']) : none()),
  };
  const certificate = new X509Certificate(readFileSync(file(`${name}.crt`)));
  expect((await addressFault(certificate, address, resolver)) === undefined).toBe(fits);
});
