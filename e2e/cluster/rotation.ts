import { connect as connectHttp2 } from 'node:http2';
import { get } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import { type ClientTls, EtcdClient } from '../../test/support/etcd-client.ts';
import { equal } from '../support/judge.ts';
import type { Certificates } from './certificates.ts';
import { Watcher } from './load.ts';
import { SecuredWriter } from './secured-writer.ts';

const TAKEN_MAX_MS = 150_000;
const SEEN_MAX_MS = 10_000;
const ACCEPTED_MAX_MS = 5_000;
const WRITES_BEHIND = 20;
const [OLD, NEW] = ['old-authority', 'new-authority'] as const;

/** Who connects to a member at a port. */
export type Side = 'client' | 'peer';
export const SIDES: readonly Side[] = ['client', 'peer'];

/** What all members are to show at one port, and whom they are to trust there: PEM. */
export type Given = ClientTls;

/** Members that ask for certificates at both ports, and read them from files. */
export interface SecuredMembers {
  /** host:port of each member. */
  readonly endpoints: Readonly<Record<Side, readonly string[]>>;
  /** Replaces the files of all members. */
  readonly give: (files: Readonly<Record<Side, Given>>) => Promise<void>;
  /** The identities of the processes: one that was started again has another. */
  readonly processes: () => Promise<string>;
  /** Kills this member and starts it again. */
  readonly killAndStart: (member: number) => Promise<void>;
}

/** The certificates of a rotation. `more`: names of the members, as `Certificates` takes them. */
export class RotationFiles {
  readonly #files: Certificates;

  constructor(files: Certificates, hostname: string, more: readonly string[]) {
    this.#files = files;
    const certify = (name: string, by: string): void => files.certify(name, { by, commonName: name, hostname, more });
    for (const authority of [OLD, NEW]) files.authority(authority);
    for (const side of SIDES) {
      certify(`first-${side}`, OLD);
      certify(`second-${side}`, OLD);
      certify(`third-${side}`, NEW);
    }
    certify('old-user', OLD);
    certify('new-user', NEW);
  }

  /** What members begin with. */
  get first(): Readonly<Record<Side, Given>> {
    return this.given('first', OLD);
  }

  given(pair: string, ...trusted: readonly string[]): Readonly<Record<Side, Given>> {
    return { client: this.user(`${pair}-client`, ...trusted), peer: this.user(`${pair}-peer`, ...trusted) };
  }

  user(name: string, ...trusted: readonly string[]): ClientTls {
    const ca = Buffer.concat(trusted.map((authority) => this.#files.read(`${authority}.crt`)));
    return { ca, cert: this.#files.read(`${name}.crt`), key: this.#files.read(`${name}.key`) };
  }
}

/**
 * Members get other certificates, then trust a second authority, show certificates of it, and trust it alone, while a client
 * writes, each time by a new connection, and another watches on one that stands. Rejects unless each step is seen from outside at
 * both ports without a restart or a failed call, the watch has seen all once and in order, and members whose leader is killed
 * behind it find each other again with all that was acknowledged. Returns what it did, by `timed`.
 */
export async function rotate(
  members: SecuredMembers,
  files: RotationFiles,
  timed: (what: string, work: () => Promise<void>) => Promise<void>,
): Promise<string> {
  const { client: endpoints } = members.endpoints;
  const shown = async (pair: string, as: ClientTls): Promise<void> => {
    for (const side of SIDES)
      for (const endpoint of members.endpoints[side])
        await comes(
          `${endpoint} shows ${pair}-${side}`,
          async () => (await nameShown(endpoint, as)) === `${pair}-${side}`,
        );
  };
  const accept = async (as: ClientTls, wanted = true): Promise<void> => {
    for (const side of SIDES)
      for (const endpoint of members.endpoints[side])
        await comes(
          `${endpoint} ${wanted ? 'accepts' : 'refuses'}`,
          async () => (await isAccepted[side](endpoint, as)) === wanted,
        );
  };

  const old = files.user('old-user', OLD);
  await shown('first', old);
  const before = await members.processes();
  const watcher = new Watcher(endpoints[0]!, { tls: old });
  const writer = new SecuredWriter(endpoints, old);

  await timed('new certificates of the same authority, until all show them', async () => {
    await members.give(files.given('second', OLD));
    await shown('second', old);
  });
  const changing = files.user('new-user', OLD, NEW);
  await timed('both authorities are trusted', async () => {
    await members.give(files.given('second', OLD, NEW));
    await accept(changing);
  });
  await writer.use(changing);
  await timed('certificates of the new authority', async () => {
    await members.give(files.given('third', OLD, NEW));
    await shown('third', changing);
  });
  const late = files.user('old-user', OLD, NEW);
  await accept(late);
  const now = files.user('new-user', NEW);
  await writer.use(now);
  await timed('the new authority alone is trusted', async () => {
    await members.give(files.given('third', NEW));
    await accept(late, false);
  });
  // It was the certificate that was refused.
  await accept(now);
  await writer.until(writer.acknowledged.length + WRITES_BEHIND);
  equal('processes', await members.processes(), before);
  equal('failed calls', writer.failures.join('; '), '');
  equal('breaks of the watch', watcher.breaks, 0);

  // The connections between members stood until now.
  await members.killAndStart(await leaderAt(endpoints, now));
  for (const endpoint of endpoints)
    await comes(`${endpoint} reaches all others`, async () => (await reached(endpoint, now)) === endpoints.length - 1);
  await writer.until(writer.acknowledged.length + WRITES_BEHIND);
  await writer.stop();
  for (const endpoint of endpoints) await writer.isKept(endpoint, now);
  // A client that was connected before the old authority was let go of comes back with a certificate of the new one.
  if (watcher.breaks === 0) {
    const last = writer.acknowledged.at(-1)!.revision;
    await comes('a watcher sees all', async () => watcher.last >= last, SEEN_MAX_MS);
  }
  await watcher.stop();
  const seen = new Set(watcher.revisions);
  equal('revisions seen twice', watcher.revisions.length - seen.size, 0);
  const unseen = writer.acknowledged.filter(({ revision }) => revision <= watcher.last && !seen.has(revision));
  equal('writes unseen', unseen.length, 0);
  return (
    `${writer.acknowledged.length} writes, each by a connection of its own, ` +
    `${writer.failures.length} failed, all behind a kill -9 of the leader`
  );
}

async function comes(what: string, is: () => Promise<boolean>, maxMs = TAKEN_MAX_MS): Promise<void> {
  for (const endMs = performance.now() + maxMs; !(await is()); await sleep(250))
    if (performance.now() > endMs) throw new Error(`not within ${maxMs} ms: ${what}`);
}

/** The common name of the certificate that a new connection is shown, or why there is none. */
function nameShown(endpoint: string, tls: ClientTls): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const [host, port] = endpoint.split(':') as [string, string];
  const socket = connect({ ...tls, host, port: Number(port) }, () => {
    resolve(String(socket.getPeerCertificate().subject.CN));
    socket.destroy();
  });
  socket.on('error', (error) => resolve(String(error)));
  socket.setTimeout(5_000, () => socket.destroy(new Error('no answer')));
  return promise;
}

/** Whether a new connection is served at a port. */
const isAccepted: Readonly<Record<Side, (endpoint: string, tls: ClientTls) => Promise<boolean>>> = {
  client: async (endpoint, tls) => {
    using client = new EtcdClient(endpoint, { tls, deadlineMs: ACCEPTED_MAX_MS });
    return await client.status().then(
      () => true,
      () => false,
    );
  },
  // A client of TLS 1.3 is through with its handshake before its certificate is looked at: only HTTP/2 behind it tells.
  peer: (endpoint, tls) => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const [host, port] = endpoint.split(':') as [string, string];
    const createConnection = () => connect({ ...tls, host, port: Number(port), ALPNProtocols: ['h2'] });
    const session = connectHttp2(`https://${endpoint}`, { createConnection });
    session.once('remoteSettings', () => {
      resolve(true);
      session.destroy();
    });
    session.once('close', () => resolve(false));
    session.on('error', () => resolve(false));
    session.setTimeout(ACCEPTED_MAX_MS, () => session.destroy());
    return promise;
  },
};

/** The number of members that this one has a connection to; none if it does not answer. */
function reached(endpoint: string, tls: ClientTls): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const options = { ...tls, agent: false, signal: AbortSignal.timeout(5_000) };
  const asked = get(`https://${endpoint}/metrics`, options, (answer) => {
    let text = '';
    answer.setEncoding('utf8');
    answer.on('data', (chunk: string) => (text += chunk));
    answer.on('end', () => resolve(text.match(/^etcd_network_active_peers\{.*\} 1$/gm)?.length ?? 0));
    answer.on('error', () => resolve(0));
  });
  asked.on('error', () => resolve(0));
  return promise;
}

async function leaderAt(endpoints: readonly string[], tls: ClientTls): Promise<number> {
  for (const [at, endpoint] of endpoints.entries()) {
    using client = new EtcdClient(endpoint, { tls });
    const { leader, header } = await client.status();
    if (leader === header?.memberId) return at;
  }
  throw new Error('nobody leads');
}
