/**
 * Three members that connect over TLS, with certificates of one authority and its revocation list. A member with a wrong
 * certificate is refused, the log of each refusing member says why, and the other members serve meanwhile.
 *
 *   peer-tls.ts <folder>
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import { ALL_KEYS, EtcdClient, EtcdError } from '../../test/support/etcd-client.ts';
import { Lab } from '../tikv/lab.ts';
import { Certificates } from './certificates.ts';
import { Checks } from './checks.ts';
import { freePlaces, type ClusterPlace, MemberProcess } from './cluster-member.ts';

const folder = process.argv[2] ?? '.';
const REFUSED_MAX_MS = 30_000;
/** Shorter than the time for which a request waits for a leader. */
const NO_ANSWER_MS = 1500;

const member = { by: 'ca', commonName: 'engram-peer', hostname: 'peer.engram' };
const certificates = new Certificates(join(folder, 'tls'));
for (const name of ['ca', 'other-ca']) certificates.authority(name);
for (const name of ['a', 'b', 'c', 'revoked']) certificates.certify(name, member);
certificates.certify('wrong-name', { ...member, commonName: 'somebody', hostname: 'elsewhere' });
certificates.certify('other-authority', { ...member, by: 'other-ca' });
certificates.revoke('revoked', 'ca');

const lab = await Lab.start(join(folder, 'lab'), { store: 'onenode', strict: false });
const place: ClusterPlace = {
  pd: lab.pdAddresses,
  prefix: 'peer-tls',
  peerScheme: 'https',
  members: await freePlaces(folder),
};
const [placeA, placeB, placeC] = [place.members[0]!, place.members[1]!, place.members[2]!];
let running: MemberProcess[] = [];

const byName = ['--peer-cert-allowed-cn=engram-peer'];
const byHost = ['--peer-cert-allowed-hostname=peer.engram'];

function start(at: ClusterPlace['members'][number], pair: string, flags: readonly string[]): MemberProcess {
  const started = new MemberProcess(place, at, [
    `--peer-cert-file=${certificates.file(`${pair}.crt`)}`,
    `--peer-key-file=${certificates.file(`${pair}.key`)}`,
    `--peer-trusted-ca-file=${certificates.file('ca.crt')}`,
    `--peer-crl-file=${certificates.file('ca.crl')}`,
    '--peer-client-cert-auth',
    ...flags,
  ]);
  running.push(started);
  started.start();
  return started;
}

const checks = new Checks(() => running);
const { check } = checks;

let written = 0;
async function writesAt({ endpoint }: MemberProcess): Promise<void> {
  written += 1;
  using client = new EtcdClient(endpoint, { deadlineMs: 10_000 });
  await client.put({ key: Buffer.from(`k${written}`), value: Buffer.from('v') });
  const { count } = await client.range({ ...ALL_KEYS, countOnly: true });
  assert.equal(Number(count), written);
}

/** The first match of `pattern` among the log lines after the first `from` ones. */
async function says({ place: at, lines }: MemberProcess, from: number, pattern: RegExp): Promise<string> {
  for (const endMs = performance.now() + REFUSED_MAX_MS; performance.now() < endMs; await sleep(50)) {
    const found = lines.slice(from).find((line) => pattern.test(line));
    if (found !== undefined) return pattern.exec(found)![1]!;
  }
  throw new Error(`${at.name} does not say ${String(pattern)}`);
}

interface Refusal {
  readonly pair: string;
  readonly flags: readonly string[];
  /** What a member logs when this one dials it. */
  readonly says: RegExp;
}

/** Starts the third member with this certificate. It gets no answer, and the others log why and continue. */
async function refusedAt(others: readonly MemberProcess[], { pair, flags, says: why }: Refusal): Promise<string> {
  const before = others.map(({ lines }) => lines.length);
  const third = start(placeC, pair, flags);
  try {
    const said = await Promise.all(others.map((other, at) => says(other, before[at]!, why)));
    for (const other of others) await writesAt(other);
    using client = new EtcdClient(third.endpoint, { deadlineMs: NO_ANSWER_MS });
    await assert.rejects(client.range({ ...ALL_KEYS, countOnly: true }), EtcdError);
    assert.ok(!third.lines.some((line) => line.includes('ready to serve client requests')), 'it serves');
    return said[0]!;
  } finally {
    await third.kill();
    running = running.filter((each) => each !== third);
  }
}

const rejected = (why: string): RegExp => new RegExp(`(${why})[^}]*rejected connection on peer endpoint`);

await check('members with certificates of the allowed name form a cluster', async () => {
  const all = [start(placeA, 'a', byName), start(placeB, 'b', byName), start(placeC, 'c', byName)];
  await Promise.all(all.map((each) => each.ready()));
  for (const each of all) await writesAt(each);
  return `${written} writes`;
});
await running.pop()!.stop();

const wrong: readonly (Refusal & { readonly name: string })[] = [
  {
    name: 'of the authority, with another CommonName',
    pair: 'wrong-name',
    flags: byName,
    says: rejected('CommonName \\\\?"somebody\\\\?" is not allowed'),
  },
  { name: 'that is revoked', pair: 'revoked', flags: byName, says: rejected('certificate serial [0-9a-f]+ revoked') },
  {
    name: 'of another authority',
    pair: 'other-authority',
    flags: byName,
    says: rejected('UNABLE_TO_GET_ISSUER_CERT_LOCALLY'),
  },
  {
    name: 'and a version of TLS that the others do not speak',
    pair: 'c',
    flags: [...byName, '--tls-max-version=TLS1.2'],
    says: rejected('unsupported protocol|protocol version'),
  },
];
const newest = '--tls-min-version=TLS1.3';
for (const each of running.splice(0)) await each.stop();
const [a, b] = [start(placeA, 'a', [...byName, newest]), start(placeB, 'b', [...byName, newest])];
await Promise.all([a.ready(), b.ready()]);
for (const each of wrong)
  await check(`a member with a certificate ${each.name} is refused`, () => refusedAt([a, b], each));

await check('who shows no certificate is refused', async () => {
  const before = a.lines.length;
  const socket = connect({
    port: placeA.peerPort,
    host: '127.0.0.1',
    rejectUnauthorized: false,
    ALPNProtocols: ['h2'],
  });
  socket.on('error', () => {});
  socket.resume();
  await once(socket, 'close');
  await writesAt(a);
  return await says(a, before, rejected('no client certificate'));
});

await check('with the right certificate the third member is back', async () => {
  const third = start(placeC, 'c', [...byName, newest]);
  await third.ready();
  await writesAt(third);
  return `${written} writes`;
});

await check('a member whose certificate is for another host name is refused', async () => {
  for (const each of running.splice(0)) await each.stop();
  const others = [start(placeA, 'a', byHost), start(placeB, 'b', byHost)];
  await Promise.all(others.map((each) => each.ready()));
  const why = rejected('certificate is for none of the allowed hostnames');
  const said = await refusedAt(others, { pair: 'wrong-name', flags: byHost, says: why });
  const third = start(placeC, 'c', byHost);
  await third.ready();
  await writesAt(third);
  return said;
});

for (const each of running) await each.stop().catch(() => undefined);
await lab[Symbol.asyncDispose]();
console.log(`e2e-cluster, TLS between members: ${checks.passed} passed, ${checks.failed} failed`);
process.exit(checks.failed === 0 ? 0 : 1);
