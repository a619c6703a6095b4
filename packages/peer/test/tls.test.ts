import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { logPosition } from '@engram/core';
import { type PeerCertificate, PeerLinks, type PeerTls, servePeers } from '@engram/peer';
import { realClock } from '@engram/sim';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { Echo } from './echo.ts';

const CLUSTER = 0xc1n;
const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const never = new AbortController().signal;

let folder = '';
const read = (name: string): Buffer => readFileSync(join(folder, name));
const openssl = (...args: string[]): void => void execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

/** A certificate that `authority` has signed, or itself, for these names. */
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
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let closing: AsyncDisposable[] = [];
afterEach(async () => {
  for (const each of closing.reverse()) await each[Symbol.asyncDispose]();
  closing = [];
});

const pair = (name: string): PeerCertificate => ({ cert: read(`${name}.crt`), key: read(`${name}.key`) });

function authority(served: string, dialed = served): PeerTls {
  return { served: pair(served), dialed: pair(dialed), ca: read('ca.crt'), clientCertAuth: true, selfSigned: false };
}

const selfSigned = (): PeerTls => ({
  served: pair('alone'),
  dialed: pair('alone'),
  ca: undefined,
  clientCertAuth: false,
  selfSigned: true,
});

async function serve(tls: PeerTls, secure = true): Promise<number> {
  const server = await servePeers({
    clusterId: CLUSTER,
    memberId: 2n,
    addresses: [{ host: '127.0.0.1', port: 0, secure }],
    tls,
    service: new Echo(),
    logger: quiet,
  });
  closing.push(server);
  return server.ports[0]!;
}

interface Dialed {
  readonly mine: Echo;
  readonly links: PeerLinks;
}

function dial(port: number, tls: PeerTls | undefined, scheme = 'https'): Dialed {
  const mine = new Echo();
  const links = new PeerLinks({
    clusterId: CLUSTER,
    memberId: 1n,
    tls,
    clock: realClock,
    logger: quiet,
    service: () => mine,
  });
  closing.push({ [Symbol.asyncDispose]: async () => links[Symbol.dispose]() });
  links.setMembers([{ id: 2n, peerUrls: [`${scheme}://127.0.0.1:${port}`] }]);
  return { mine, links };
}

async function answers({ mine, links }: Dialed): Promise<void> {
  await mine.until(() => mine.links.includes('connected 2'));
  const answer = await links.call(2n, Buffer.from('x'), never);
  expect(Buffer.from(answer).toString()).toBe('answer to x');
}

/** A stream of batches fails with the connection: the first attempt to connect has been refused then. */
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

test('members with certificates that each has signed for itself meet', async () => {
  await answers(dial(await serve(selfSigned()), selfSigned()));
});

test('a self-signed server is not trusted by a member with an authority', async () => {
  await refused(dial(await serve(selfSigned()), authority('member')));
});

test('an http URL is served without TLS also where there are certificates', async () => {
  await answers(dial(await serve(authority('member'), false), authority('member'), 'http'));
});
