import {
  CLIENT_PREFACE,
  Flag,
  HpackEncoder,
  SettingId,
  settingsAckFrame,
  settingsFrame,
  windowUpdateFrame,
} from '@engram/http2';
import type { Prng } from '@engram/sim';
import { gzipSync } from 'node:zlib';
import { someCall } from './messages.ts';
import { mutated, randomBytes } from './mutate.ts';

/** A frame with any type, flags, stream and payload, valid or not. */
function rawFrame(type: number, flags: number, streamId: number, payload: Uint8Array, length = payload.length): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(length & 0xffffff, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(streamId >>> 0, 5);
  return Buffer.concat([head, payload]);
}

const DATA = 0;
const HEADERS = 1;
const PRIORITY = 2;
const RST_STREAM = 3;
const PUSH_PROMISE = 5;
const PING = 6;
const GOAWAY = 7;
const WINDOW_UPDATE = 8;
const CONTINUATION = 9;

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** Frames of one client after its settings. Most are valid, so that errors come late in the connection. */
export function someFrames(random: Prng): readonly Buffer[] {
  const frames = new Frames(random);
  for (let left = 1 + random.below(12); left > 0; left -= 1) frames.add();
  return frames.made;
}

class Frames {
  readonly made: Buffer[] = [];
  readonly #random: Prng;
  readonly #encoder = new HpackEncoder(4096);
  #nextId = 1;
  #open: number[] = [];

  constructor(random: Prng) {
    this.#random = random;
  }

  add(): void {
    const random = this.#random;
    const streamId = this.#open.length > 0 && random.chance(0.9) ? random.pick(this.#open) : random.below(40);
    const kinds: readonly (() => Buffer)[] = [
      () => this.#call(),
      () => this.#call(),
      () => this.#call(),
      () => this.#call(),
      () => rawFrame(DATA, random.below(16), streamId, this.#message(someCall(random).message)),
      () =>
        rawFrame(
          WINDOW_UPDATE,
          0,
          random.chance(0.5) ? 0 : streamId,
          uint32(random.pick([0, 1, 1000, 2 ** 30, 2 ** 31 - 1])),
        ),
      () => rawFrame(RST_STREAM, 0, streamId, uint32(random.below(20))),
      () =>
        rawFrame(
          PING,
          random.below(2),
          random.chance(0.9) ? 0 : streamId,
          randomBytes(random, random.chance(0.9) ? 8 : random.below(20)),
        ),
      () =>
        settingsFrame([[random.below(9), random.pick([0, 1, 100, 16_384, 65_535, 2 ** 24, 2 ** 31 - 1, 2 ** 32 - 1])]]),
      () => rawFrame(PRIORITY, 0, streamId, randomBytes(random, random.chance(0.9) ? 5 : 4)),
      () => rawFrame(CONTINUATION, random.below(8), streamId, randomBytes(random, random.below(50))),
      () =>
        rawFrame(
          random.pick([GOAWAY, PUSH_PROMISE, 10, 0x20]),
          random.below(256),
          random.below(3),
          randomBytes(random, random.below(30)),
        ),
      () =>
        rawFrame(
          random.below(12),
          random.below(256),
          streamId,
          randomBytes(random, random.below(60)),
          random.pick([0, 5, 100, 16_384, 16_385, 0xffffff]),
        ),
    ];
    const frame = random.pick(kinds)();
    const times = random.chance(0.03) ? 1 + random.below(300) : 1;
    for (let at = 0; at < times; at += 1) this.made.push(frame);
    if (random.chance(0.08)) this.made.push(mutated(random, frame, this.made));
  }

  /** A call, complete or not, valid or slightly wrong. */
  #call(): Buffer {
    const random = this.#random;
    const { path, message } = someCall(random);
    const id = this.#nextId;
    this.#nextId += 2;
    this.#open.push(id);
    const wrong = (name: string): boolean => random.chance(0.02) || (name === 'te' && random.chance(0.05));
    const head: [string, string][] = [
      [':method', random.chance(0.95) ? 'POST' : random.pick(['GET', 'OPTIONS', '', 'post'])],
      [':scheme', random.chance(0.95) ? 'http' : 'ftp'],
      [
        ':path',
        random.chance(0.9)
          ? path
          : random.pick(['/', '', '/metrics', '/health?serializable=true', '/version', '*', '/v3/kv/put']),
      ],
      [':authority', 'localhost'],
      ['content-type', random.chance(0.95) ? 'application/grpc' : random.pick(['application/grpc+x', 'text/html', ''])],
      ['te', 'trailers'],
    ];
    if (random.chance(0.2))
      head.push(['grpc-timeout', random.pick(['1S', '0n', '99999999H', '-1S', '100m', ' 5S', '1x'])]);
    if (random.chance(0.2)) head.push(['grpc-encoding', random.pick(['gzip', 'identity', 'snappy', ''])]);
    if (random.chance(0.1))
      head.push([
        random.pick(['x-note', 'x-bin', 'hasleader', 'client-api-version', 'content-length']),
        'v'.repeat(random.pick([0, 1, 3_000])),
      ]);
    if (random.chance(0.05))
      head.push([random.pick([':path', 'Upper', 'connection', 'transfer-encoding', 'host', '']), 'x']);
    const fields = head
      .filter(([name]) => !wrong(name))
      .map(([name, value]) => ({ name, value, indexing: random.pick(['remember', 'once'] as const) }));
    let block: Buffer = Buffer.from(this.#encoder.encode(random.chance(0.95) ? fields : random.shuffled(fields)));
    if (random.chance(0.03)) block = mutated(random, block, [block]);
    const cut = random.chance(0.1) ? random.below(block.length + 1) : block.length;
    const whole = cut === block.length;
    const parts = [
      rawFrame(
        HEADERS,
        (whole ? Flag.END_HEADERS : 0) | (random.chance(0.05) ? Flag.END_STREAM : 0),
        id,
        block.subarray(0, cut),
      ),
    ];
    if (!whole && random.chance(0.9)) parts.push(rawFrame(CONTINUATION, Flag.END_HEADERS, id, block.subarray(cut)));
    const data = this.#message(random.chance(0.7) ? message : mutated(random, message, [message]));
    for (let at = 0; at < data.length; at += 16_000) {
      const last = at + 16_000 >= data.length;
      parts.push(rawFrame(DATA, last && random.chance(0.9) ? Flag.END_STREAM : 0, id, data.subarray(at, at + 16_000)));
    }
    return Buffer.concat(parts);
  }

  /** A message in gRPC's frame, whose length may be wrong. */
  #message(message: Uint8Array): Buffer {
    const random = this.#random;
    const zipped = random.chance(0.1);
    const body = zipped ? gzipSync(message) : Buffer.from(message);
    const head = Buffer.alloc(5);
    head[0] = random.chance(0.97) ? Number(zipped) : random.below(256);
    head.writeUInt32BE(random.chance(0.95) ? body.length : random.pick([0, 1, 2 ** 20, 2 ** 31, 2 ** 32 - 1]), 1);
    return Buffer.concat([head, body]);
  }
}

/** All bytes that a client sends on an HTTP/2 connection, including its preface. */
export function http2Script(random: Prng): readonly Buffer[] {
  const preface = Buffer.from(CLIENT_PREFACE);
  const windows: readonly number[] = [0, 1, 100, 65_535, 2 ** 30];
  const begin = [
    random.chance(0.97) ? preface : mutated(random, preface, []),
    settingsFrame(random.chance(0.5) ? [] : [[SettingId.INITIAL_WINDOW_SIZE, random.pick(windows)]]),
    ...(random.chance(0.8) ? [settingsAckFrame] : []),
    ...(random.chance(0.5) ? [windowUpdateFrame(0, 2 ** 30)] : []),
  ];
  return [...begin, ...someFrames(random)];
}
