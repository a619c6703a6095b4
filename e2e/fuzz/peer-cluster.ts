import { nodeItself } from '@engram/backend';
import { EMPTY_BYTES, keyBytes, NO_LEASE, putOp, rangeOp } from '@engram/core';
import { type Member, MemoryRaftStorage, memberId } from '@engram/election';
import { ClusterMember, type PeerService } from '@engram/member';
import { PeerLinks, type PeerServer, servePeers } from '@engram/peer';
import { defaultLimits } from '@engram/raft-ts';
import { SimCopy, Prng, quiet, realClock, SharedLog, SharedLogStorage } from '@engram/sim';
import { BoundPort } from '@engram/transport';

export const CLUSTER = 0xc1n;
const STORE = 5n;
const TICK_MS = 100;
export const MEMBERS = [1n, 2n, 3n] as const;
/** Was a member once. */
export const REMOVED = 4n;

interface Running {
  readonly member: ClusterMember;
  readonly server: PeerServer;
  readonly links: PeerLinks;
  readonly port: number;
}

/** Three members in this process, with real connections over one log in memory. */
export class PeerCluster implements AsyncDisposable {
  readonly faults: string[] = [];
  readonly #log = new SharedLog('the log');
  readonly #running = new Map<bigint, Running>();
  #closing = false;

  static async start(seed: number): Promise<PeerCluster> {
    const cluster = new PeerCluster();
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
      storage: new SharedLogStorage(this.#log, new SimCopy()),
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
      const leader = this.all.find(({ member }) => member.member.stats.leadsIn !== undefined)?.member.member.cluster;
      const known = ({ member }: Running): boolean =>
        member.member.cluster.leaderId === leader?.memberId && member.member.cluster.term === leader.term;
      if (leader !== undefined && this.all.every(known)) return { term: leader.term, leader: leader.memberId };
      await new Promise((resolve) => void realClock.after(50, () => resolve(undefined)));
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
