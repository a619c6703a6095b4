import { type ChildProcess, fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { realClock } from '@engram/sim';
import { serve, serveGrpcJs, type ServeOptions } from '@engram/transport';
import {
  CLIENT_PREFACE,
  Flag,
  FrameReader,
  FrameType,
  HpackEncoder,
  putFrameHeader,
  putUint32,
  SettingId,
  settingsAckFrame,
  settingsFrame,
  windowUpdateFrame,
} from '@engram/http2';
import type { Message, Method, StreamCall } from '@engram/wire';

// The limit: a request of some 600 bytes and an answer of 60 cost the kernel about 1 us in each direction if many share
// a read and a write, and some 15 us otherwise. Parsing and writing them should cost less than 1 us more.
const smoke = process.env['BENCH'] === 'smoke';

const answer = Buffer.from('0a0c08b8a6b5d10210c0c40718022805', 'hex');
const request = Buffer.alloc(560, 'r');
/** The first message of a watch: events that are published before it would be missed. */
const opened = Buffer.from('opened');
const event: Message = [Buffer.from('0a0408011005', 'hex'), Buffer.alloc(600, 'e')];

interface Case {
  readonly name: string;
  readonly path: string;
  readonly connections: number;
  readonly inflight: number;
  readonly calls: number;
  readonly server: 'own' | 'grpc-js';
}
const cases: readonly Case[] = [
  {
    name: 'answered at once, 8 x 32 in flight',
    path: '/bench/Now',
    connections: 8,
    inflight: 32,
    calls: 1_000_000,
    server: 'own',
  },
  {
    name: 'answered in groups, 8 x 32 in flight',
    path: '/bench/Grouped',
    connections: 8,
    inflight: 32,
    calls: 1_000_000,
    server: 'own',
  },
  {
    name: 'answered in groups, 300 x 1 in flight',
    path: '/bench/Grouped',
    connections: 300,
    inflight: 1,
    calls: 200_000,
    server: 'own',
  },
  {
    name: 'one event for 100 streams on 8 connections',
    path: '/bench/Watch',
    connections: 8,
    inflight: 13,
    calls: 10_000,
    server: 'own',
  },
  {
    name: 'answered at once, 8 x 32 in flight',
    path: '/bench/Now',
    connections: 8,
    inflight: 32,
    calls: 60_000,
    server: 'grpc-js',
  },
];

function methods(): Map<string, Method> {
  let group: (() => void)[] = [];
  const watchers = new Set<StreamCall>();
  const answerGroup = (): void => {
    const answered = group;
    group = [];
    for (const resolve of answered) resolve();
  };
  return new Map<string, Method>([
    ['/bench/Now', { kind: 'unary', handle: () => answer }],
    [
      '/bench/Grouped',
      {
        kind: 'unary',
        handle: () =>
          new Promise((resolve) => {
            group.push(() => resolve(answer));
            if (group.length === 1) setImmediate(answerGroup);
          }),
      },
    ],
    [
      '/bench/Watch',
      {
        kind: 'bidi',
        open: (call) => ({
          message() {
            watchers.add(call);
            call.send(opened);
          },
          halfClosed: () => call.end(),
          drained() {},
          closed: () => void watchers.delete(call),
        }),
      },
    ],
    [
      '/bench/Publish',
      {
        kind: 'unary',
        handle: () => {
          for (const watcher of watchers) watcher.send(event);
          return answer;
        },
      },
    ],
  ]);
}

async function runServer(kind: string): Promise<void> {
  const quiet = (): void => {};
  const options: ServeOptions = {
    methods: methods(),
    http: () => ({ status: 404, headers: {}, body: '' }),
    listen: { kind: 'tcp', host: '127.0.0.1', port: 0 },
    protocols: 'both',
    maxRequestBytes: 2 * 1024 * 1024,
    maxConcurrentStreams: 2 ** 32 - 1,
    keepalive: { minTimeMs: 5_000, intervalMs: 7_200_000, timeoutMs: 20_000 },
    logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    clock: realClock,
  };
  const { address } = await (kind === 'own' ? serve : serveGrpcJs)(options);
  process.on('message', () => process.send?.(process.cpuUsage()));
  process.on('disconnect', () => process.exit());
  process.send?.(address.kind === 'tcp' ? address.port : 0);
}

/**
 * Calls one path over one connection, with a fixed number of calls in flight, and counts answers. It implements only
 * the HTTP/2 that this needs.
 */
class Caller {
  readonly hash = createHash('sha1');
  messages = 0;
  readonly #socket;
  readonly #reader = new FrameReader(2 ** 24 - 1);
  readonly #encoder = new HpackEncoder(4096);
  #nextId = 1;
  #toSend = 0;
  #toCome = 0;
  #path = '';
  #done: () => void = () => {};
  #wanted = Number.POSITIVE_INFINITY;

  constructor(port: number) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true });
    const settings = settingsFrame([[SettingId.INITIAL_WINDOW_SIZE, 2 ** 30]]);
    this.#socket.write(
      Buffer.concat([Buffer.from(CLIENT_PREFACE), settings, settingsAckFrame, windowUpdateFrame(0, 2 ** 30)]),
    );
    this.#socket.on('data', (chunk: Buffer) => this.#take(chunk));
  }

  call(path: string, calls: number, inflight: number): Promise<void> {
    this.#path = path;
    const first = Math.min(inflight, calls);
    this.#toSend = calls - first;
    this.#toCome = calls;
    const finished = new Promise<void>((resolve) => {
      this.#done = resolve;
    });
    this.#socket.write(Buffer.concat(Array.from({ length: first }, () => this.#request(true))));
    return finished;
  }

  /** Opens streams that stay open. Resolves when each has received its first message. */
  open(path: string, streams: number): Promise<void> {
    this.#path = path;
    this.#socket.write(Buffer.concat(Array.from({ length: streams }, () => this.#request(false))));
    return this.hear(streams);
  }

  /** Resolves when this many more messages have arrived. */
  hear(messages: number): Promise<void> {
    this.#wanted = this.messages + messages;
    return new Promise((resolve) => {
      this.#done = resolve;
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #request(endStream: boolean): Buffer {
    const fields = {
      ':method': 'POST',
      ':scheme': 'http',
      ':path': this.#path,
      ':authority': 'bench',
      'content-type': 'application/grpc',
      te: 'trailers',
    };
    const block = this.#encoder.encode(
      Object.entries(fields).map(([name, value]) => ({ name, value, indexing: 'remember' })),
    );
    const bytes = Buffer.allocUnsafe(9 + block.length + 9 + 5 + request.length);
    let at = putFrameHeader(bytes, 0, block.length, FrameType.HEADERS, Flag.END_HEADERS, this.#nextId);
    at += block.copy(bytes, at);
    at = putFrameHeader(bytes, at, 5 + request.length, FrameType.DATA, endStream ? Flag.END_STREAM : 0, this.#nextId);
    bytes[at] = 0;
    request.copy(bytes, putUint32(bytes, at + 1, request.length));
    this.#nextId += 2;
    return bytes;
  }

  #take(chunk: Buffer): void {
    this.#reader.push(chunk);
    let answered = 0;
    let received = 0;
    while (this.#reader.next()) {
      const { type, flags, bytes, start, end } = this.#reader;
      if (type === FrameType.DATA) {
        this.messages += 1;
        received += end - start;
        if (this.messages <= 10) this.hash.update(bytes.subarray(start, end));
      } else if (type === FrameType.HEADERS && (flags & Flag.END_STREAM) !== 0) {
        answered += 1;
      }
    }
    if (this.messages >= this.#wanted) this.#done();
    const more: Buffer[] = [];
    for (const next = Math.min(answered, this.#toSend); more.length < next; ) more.push(this.#request(true));
    this.#toSend -= Math.min(answered, this.#toSend);
    this.#toCome -= answered;
    if (answered > 0 && this.#toCome === 0) this.#done();
    if (received > 0) more.push(windowUpdateFrame(0, received));
    if (more.length > 0) this.#socket.write(Buffer.concat(more));
  }
}

async function cpuMs(server: ChildProcess): Promise<number> {
  server.send('cpu');
  const [{ user, system }] = (await once(server, 'message')) as [NodeJS.CpuUsage];
  return (user + system) / 1e3;
}

async function measure({ name, path, connections, inflight, calls, server: kind }: Case): Promise<void> {
  const server = fork(import.meta.filename, [kind]);
  const [port] = (await once(server, 'message')) as [number];
  const callers = Array.from({ length: smoke ? Math.min(2, connections) : connections }, () => new Caller(port));
  const share = Math.ceil((smoke ? 40 : calls) / callers.length);
  const watches = path === '/bench/Watch';
  const publisher = new Caller(port);
  const round = async (): Promise<void> => {
    if (watches) await publisher.call('/bench/Publish', share * callers.length, 16);
    else await Promise.all(callers.map((caller) => caller.call(path, share, inflight)));
  };
  let listening: readonly Promise<void>[] = [];
  if (watches) {
    await Promise.all(callers.map((caller) => caller.open(path, inflight)));
    listening = callers.map((caller) => caller.hear(2 * inflight * share * callers.length));
  }
  await round(); // warm-up
  const before = await cpuMs(server);
  const startMs = performance.now();
  await round();
  await Promise.all(listening);
  const elapsedMs = performance.now() - startMs;
  const items = share * callers.length * (watches ? inflight * callers.length : 1);
  const usEach = (((await cpuMs(server)) - before) * 1e3) / items;
  const rate = Math.round((items / elapsedMs) * 1e3);
  const hash = callers[0]?.hash.digest('hex').slice(0, 8);
  console.log(
    `${kind.padEnd(8)} ${name.padEnd(44)} ${String(rate).padStart(8)}/s ${usEach.toFixed(2).padStart(7)} us CPU each  ${hash}`,
  );
  for (const caller of [...callers, publisher]) caller.close();
  server.disconnect();
  await once(server, 'exit');
}

const [role] = process.argv.slice(2);
if (role === 'own' || role === 'grpc-js') await runServer(role);
else for (const each of cases) await measure(each);
