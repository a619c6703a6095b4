import { setTimeout as delay } from 'node:timers/promises';
import { clientHello, grpcHeaders, RawClient } from '@engram/transport/testing';
import { HandshakeFlood } from '../../e2e/cluster/handshake-flood.ts';
import type { Endpoint } from '../cluster/cluster.ts';
import { EtcdClient } from '../../test/support/etcd-client.ts';
import { noAttack } from './attack.ts';
import { dialMany, secured } from './dial.ts';
import { stallMany } from './tls-attacks.ts';

/* Attacks on a cluster of three members: at a follower, and at the port where members meet. */

export const LARGE_KEYS = 200;
export const LARGE_BYTES = 100_000;
/** So many ranges over all of these keys are an answer of 200 MB. */
const RANGES = 10;
export const LARGE_PREFIX = 'large/';

export interface ClusterTarget {
  readonly leader: Endpoint;
  readonly follower: Endpoint;
  readonly patienceMs: number;
}

export interface ClusterAttack {
  readonly name: string;
  readonly what: string;
  /** The members connect over TLS, with certificates. */
  readonly secure?: boolean;
  run(target: ClusterTarget): Promise<void>;
}

/** Many bytes on each connection, whatever comes back, until the patience is at its end. */
async function pourInto(
  port: number,
  count: number,
  patienceMs: number,
  head: Buffer,
  body: Buffer,
  bodies: number,
): Promise<void> {
  const sockets = await dialMany(port, count);
  const endMs = performance.now() + patienceMs;
  await Promise.all(
    sockets.map(async (socket) => {
      socket.resume();
      socket.write(head);
      for (let at = 0; at < bodies && !socket.destroyed && performance.now() < endMs; ) {
        if (socket.writableNeedDrain) {
          await delay(5);
          continue;
        }
        socket.write(body);
        at += 1;
      }
    }),
  );
  for (const socket of sockets) socket.destroy();
}

export const clusterAttacks: readonly ClusterAttack[] = [
  noAttack,
  {
    name: 'large-answers',
    what: 'five transactions of a put and ten ranges, whose answers have 200 MB each, at a follower, one after another',
    async run({ follower, patienceMs }) {
      using client = new EtcdClient(follower.endpoint, { deadlineMs: patienceMs, messageBytesMax: 2 ** 30 });
      const range = { key: Buffer.from(LARGE_PREFIX), rangeEnd: Buffer.from('large0') };
      const success = [
        { requestPut: { key: Buffer.from('written') } },
        ...Array.from({ length: RANGES }, () => ({ requestRange: range })),
      ];
      for (let at = 0; at < 5; at += 1) await client.txn({ success }).catch(() => {});
    },
  },
  {
    name: 'peer-idle',
    what: '3,000 connections to the peer port of the leader that say nothing',
    async run({ leader, patienceMs }) {
      const sockets = await dialMany(leader.peerPort, 3_000);
      for (const socket of sockets) socket.resume();
      await delay(Math.min(3_000, patienceMs));
      for (const socket of sockets) socket.destroy();
    },
  },
  {
    name: 'peer-post',
    what: '50 connections to the peer port of the leader, each with a POST of 32 MB to /raft',
    async run({ leader, patienceMs }) {
      const head = `POST /raft HTTP/1.1\r\nhost: x\r\ncontent-type: application/protobuf\r\ncontent-length: ${2 ** 25}\r\n\r\n`;
      await pourInto(leader.peerPort, 50, patienceMs, Buffer.from(head), Buffer.alloc(2 ** 18, 1), 2 ** 7);
    },
  },
  {
    name: 'peer-streams',
    what: '2,000 gRPC streams to the peer port of the leader, each with 16 KB of a stranger',
    async run({ leader, patienceMs }) {
      const endMs = performance.now() + patienceMs;
      const message = Buffer.concat([Buffer.from([0, 0, 0, 0x3f, 0xfb]), Buffer.alloc(0x3ffb, 8)]);
      for (let at = 0; at < 100 && performance.now() < endMs; at += 1) {
        const opened = await Promise.race([RawClient.open(leader.peerPort).catch(() => undefined), delay(500)]);
        if (opened === undefined) continue;
        using client = opened;
        for (let id = 1; id < 40 && !client.closed; id += 2) {
          client.write(client.headers(id, grpcHeaders('/engram.Peer/Exchange')), client.data(id, message, false));
        }
        await delay(20);
      }
    },
  },
  { ...noAttack, name: 'none-tls', what: 'nothing, for 5 s, where members connect over TLS', secure: true },
  {
    name: 'peer-handshakes',
    what: '4,000 connections to the peer port of the leader that send a client hello at once, and nothing more',
    secure: true,
    async run({ leader, patienceMs }) {
      await stallMany(leader.peerPort, 4_000, await clientHello(), Math.min(3_000, patienceMs));
    },
  },
  {
    name: 'peer-half-open-tls',
    what: '4,000 connections to the peer port of the leader that send 4 bytes of a handshake',
    secure: true,
    async run({ leader, patienceMs }) {
      const bytes = (await clientHello()).subarray(0, 4);
      await stallMany(leader.peerPort, 4_000, bytes, Math.min(3_000, patienceMs));
    },
  },
  {
    name: 'peer-handshake-flood',
    what: 'for 5 s, one client hello after another at the peer ports of the leader and a follower, 128 at a time',
    secure: true,
    async run({ leader, follower, patienceMs }) {
      using flood = await HandshakeFlood.start([leader.peerPort, follower.peerPort]);
      await delay(Math.min(5_000, patienceMs));
      if (flood.begun === 0) throw new Error('no handshake was begun');
    },
  },
  {
    name: 'peer-no-certificate',
    what: 'for 5 s, whole handshakes with the leader without a certificate, 8 at a time',
    secure: true,
    async run({ leader, patienceMs }) {
      const endMs = performance.now() + Math.min(5_000, patienceMs);
      const one = async (): Promise<void> => {
        while (performance.now() < endMs) {
          const [socket] = await dialMany(leader.peerPort, 1);
          const secure = await Promise.race([secured(socket!).catch(() => undefined), delay(500, undefined)]);
          secure?.resume();
          await delay(1);
          socket!.destroy();
        }
      };
      await Promise.all(Array.from({ length: 8 }, one));
    },
  },
];
