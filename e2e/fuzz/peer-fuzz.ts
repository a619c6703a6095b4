import { nodeItself } from '@engram/backend';
import { EMPTY_BYTES, keyBytes, NO_LEASE, putOp, rangeOp } from '@engram/core';
import { type Member, MemoryRaftStorage, memberId } from '@engram/election';
import { ClusterMember, type PeerService } from '@engram/member';
import { PeerLinks, type PeerServer, servePeers } from '@engram/peer';
import { defaultLimits } from '@engram/raft-ts';
import { LocalCopy, Prng, quiet, realClock, SharedLog, SharedLogStorage } from '@engram/sim';
import { BoundPort } from '@engram/transport';
import { Client, credentials } from '@grpc/grpc-js';
import type { Finding } from './finding.ts';
import { followRequest, frame, hello, type Line, message, request } from './peer-messages.ts';

const CLUSTER = 0xc1n;
const STORE = 5n;
const TICK_MS = 100;
const ANSWER_MS_MAX = 5000;
const GROWTH_MAX_BYTES = 300 << 20;
const MEMBERS = [1n, 2n, 3n] as const;
/** Was a member once. */
const REMOVED = 4n;
const STRANGER = 0x666n;

interface Running {
  readonly member: ClusterMember;
  readonly server: PeerServer;
  readonly links: PeerLinks;
  readonly port: number;
}

/** Three members with real connections over one log in memory. */
class Cluster implements AsyncDisposable {
  readonly faults: string[] = [];
  readonly #log = new SharedLog('the log');
  readonly #running = new Map<bigint, Running>();
  #closing = false;

  static async start(seed: number): Promise<Cluster> {
    const cluster = new Cluster();
    const ids = [...MEMBERS, REMOVED];
    const ports = new Map<bigint, BoundPort>();
    for (const id of ids) ports.set(id, await BoundPort.bind({ kind: 'tcp', host: '127.0.0.1', port: 0 }));
    const members = ids.map(
      (id): Member => ({
        id: memberId(id),
        name: '',
        peerUrls: [`http://127.0.0.1:${portOf(ports.get(id)!)}`],
        clientUrls: [],
        isLearner: false,
      }),
    );
    await Promise.all(ids.map((id) => cluster.#start(id, members, ports.get(id)!, seed)));
    return cluster;
  }

  async #start(id: bigint, members: readonly Member[], bound: BoundPort, seed: number): Promise<void> {
    let service: PeerService | undefined;
    let server: PeerServer | undefined;
    const ids = { clusterId: CLUSTER, memberId: id };
    const links = new PeerLinks({
      ...ids,
      storeId: STORE,
      tls: undefined,
      clock: realClock,
      logger: quiet,
      service: () => service,
      sendBack: (to, bytes) => server?.send(to, bytes) === true,
      onMembers: () => server?.review(),
    });
    links.setMembers(members);
    const peerUrls = members.find((each) => each.id === id)!.peerUrls;
    const member = await ClusterMember.start({
      storage: new SharedLogStorage(this.#log, new LocalCopy()),
      raftStorage: new MemoryRaftStorage(),
      network: links,
      identity: { ...ids, name: `m${id}`, peerUrls, clientUrls: [`http://127.0.0.1:${id}`] },
      election: {
        tickMs: TICK_MS,
        limits: defaultLimits,
        rules: { strict: false, learnersMax: 1 },
        snapshotEntries: 20,
        keptEntries: 10,
      },
      token: 'fuzz',
      probeStorage: async () => {},
      firstMembers: members,
      settings: { requestTimeoutMs: 7000 },
      limits: {},
      version: '3.7.0',
      compaction: { mode: 'off' },
      clock: realClock,
      random: new Prng(seed + Number(id)),
      logger: quiet,
      onRemoved: () => {
        if (id !== REMOVED) this.fault(`member ${id} ends as removed`);
      },
      onFatal: (error) => this.fault(`member ${id} ends: ${error.message}`),
    });
    service = member.service;
    links.introduce();
    const port = portOf(bound);
    server = servePeers({
      ...ids,
      storeId: STORE,
      ports: [{ port: bound, secure: false }],
      tls: undefined,
      service,
      traffic: links.traffic,
      queuedBytesMax: 4 << 20,
      clock: realClock,
      logger: quiet,
    });
    this.#running.set(id, { member, server, links, port });
  }

  fault(what: string): void {
    if (!this.#closing) this.faults.push(what);
  }

  at(id: bigint): Running {
    return this.#running.get(id)!;
  }

  get all(): readonly Running[] {
    return [...this.#running.values()];
  }

  /** The term and the leader that all members agree on. */
  async agreed(): Promise<{ readonly term: number; readonly leader: bigint }> {
    for (let tries = 0; tries < 600; tries += 1) {
      const leader = this.all.find(({ member }) => member.member.store.leadership !== undefined)?.member.member.cluster;
      const known = ({ member }: Running): boolean =>
        member.member.cluster.leaderId === leader?.memberId && member.member.cluster.term === leader.term;
      if (leader !== undefined && this.all.every(known)) return { term: leader.term, leader: leader.memberId };
      await pause(50);
    }
    throw new Error('the members agree on no leader');
  }

  /** The member leaves, and is dismissed. */
  async remove(id: bigint): Promise<void> {
    const { leader } = await this.agreed();
    if (leader === id) {
      await this.at(leader).member.member.cluster.changes.moveLeader(MEMBERS[0], nodeItself);
      await this.agreed();
    }
    const now = (await this.agreed()).leader;
    await this.at(now).member.member.cluster.changes.remove(id, nodeItself);
    const gone = this.at(id);
    this.#running.delete(id);
    await end(gone);
  }

  async put(id: bigint, key: string): Promise<void> {
    const txn = { compares: [], success: [putOp(keyBytes(key), EMPTY_BYTES, { lease: NO_LEASE })], failure: [] };
    await this.at(id).member.member.store.txn(txn, nodeItself);
  }

  async has(id: bigint, key: string): Promise<boolean> {
    const op = rangeOp({ key: keyBytes(key), end: EMPTY_BYTES }, { countOnly: true });
    return (await this.at(id).member.member.store.range(op, nodeItself)).count > 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing = true;
    await Promise.all(this.all.map(end));
  }
}

async function end({ member, server, links }: Running): Promise<void> {
  await member[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  links[Symbol.dispose]();
}

const portOf = ({ address }: BoundPort): number => (address.kind === 'tcp' ? address.port : 0);
const pause = (ms: number): Promise<void> => new Promise((resolve) => realClock.after(ms, resolve));
const raw = (bytes: Buffer): Buffer => bytes;

/** Sends one connection's worth of frames or a request to follow. Resolves when the member has ended the stream, or soon. */
async function attack(prng: Prng, port: number, line: Line): Promise<readonly Buffer[]> {
  const options = { 'grpc.use_local_subchannel_pool': 1, 'grpc.enable_retries': 0 };
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), options);
  const sent: Buffer[] = [];
  const ended = Promise.withResolvers<void>();
  const stop = (): void => ended.resolve();
  try {
    if (prng.chance(0.1)) {
      const asked = followRequest(line, prng.below(3));
      sent.push(asked);
      const stream = client.makeServerStreamRequest('/engram.Peer/Follow', raw, raw, asked);
      stream
        .on('data', () => {})
        .on('error', stop)
        .on('end', stop);
    } else {
      const stream = client.makeBidiStreamRequest('/engram.Peer/Exchange', raw, raw);
      stream
        .on('data', () => {})
        .on('error', stop)
        .on('end', stop);
      const frames = 1 + prng.below(4);
      // A refused message ends its stream, so what comes behind it is not read.
      const [messagesMax, callsMax] = prng.chance(0.5) ? [0, 12] : prng.chance(0.5) ? [4, 0] : [2, 3];
      for (let at = 0; at < frames; at += 1) {
        const messages = Array.from({ length: messagesMax && prng.below(messagesMax) }, () => message(prng, line));
        const calls = Array.from({ length: callsMax && prng.below(callsMax) }, (_, call) => ({
          number: prng.chance(0.99) ? 20 * at + call + 1 : prng.below(2 ** 20),
          request: request(prng, line),
        }));
        const greets = at === 0 && prng.chance(0.95);
        const made = frame({ messages, calls, ...(greets ? { hello: hello(line) } : {}) });
        sent.push(made);
        stream.write(made);
      }
      if (prng.chance(0.5)) stream.end();
    }
    await Promise.race([ended.promise, pause(30)]);
  } finally {
    client.close();
  }
  return sent;
}

/**
 * Attacks the peer port of a cluster: as strangers and as a member that was removed, who may change nothing; then in the names of
 * members, who may lead, but end nobody. `seconds` count from when the cluster is up. Ends at the first findings.
 */
export async function fuzzPeers(
  seed: number,
  seconds: number,
): Promise<{ attacks: number; findings: readonly Finding[] }> {
  const prng = new Prng(seed);
  await using cluster = await Cluster.start(seed);
  const crashed = (error: Error): void => cluster.fault(`a member ends: ${error.stack}`);
  process.on('uncaughtException', crashed);
  const findings: Finding[] = [];
  let attacks = 0;
  let sent: Buffer[] = [];
  const found = (what: string): void =>
    void findings.push({ target: 'peers', what: `${what} (SEED=${seed})`, chunks: sent });
  try {
    await cluster.remove(REMOVED);
    const before = await cluster.agreed();
    const rssBytes = process.memoryUsage.rss();
    const endMs = performance.now() + 1000 * seconds;
    const outsideMs = performance.now() + 600 * seconds;
    while (performance.now() < endMs && findings.length === 0) {
      const outside = performance.now() < outsideMs;
      sent = [];
      for (let batch = 0; batch < 16; batch += 1) {
        const to = MEMBERS[prng.below(MEMBERS.length)]!;
        const names = outside ? [STRANGER, REMOVED, 0n] : MEMBERS.filter((id) => id !== to);
        const { term } = cluster.at(to).member.member.cluster;
        const line = { clusterId: CLUSTER, from: names[prng.below(names.length)]!, to, term };
        sent.push(...(await attack(prng, cluster.at(to).port, line)));
        attacks += 1;
      }
      for (const fault of cluster.faults) found(fault);
      const grown = process.memoryUsage.rss() - rssBytes;
      if (grown > GROWTH_MAX_BYTES) found(`the process has grown by ${grown} bytes`);
      if (!outside || findings.length > 0) continue;
      const askedMs = performance.now();
      await cluster.put(MEMBERS[attacks % MEMBERS.length]!, `k${attacks}`);
      const tookMs = performance.now() - askedMs;
      if (tookMs > ANSWER_MS_MAX) found(`a put took ${Math.round(tookMs)} ms`);
      for (const id of MEMBERS) {
        const { term, leaderId } = cluster.at(id).member.member.cluster;
        if (term !== before.term || leaderId !== before.leader)
          found(`member ${id} has term ${term}, leader ${leaderId}`);
        if (await cluster.has(id, 'evil')) found(`member ${id} has a key of an attacker`);
      }
    }
  } finally {
    process.off('uncaughtException', crashed);
  }
  return { attacks, findings };
}
