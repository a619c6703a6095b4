import {
  connect,
  constants,
  type ClientHttp2Session,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http2';
import { gzipSync } from 'node:zlib';
import { bounded } from '../../test/support/bounded.ts';
import type { Judge } from './judge.ts';
import { encode } from './messages.ts';
import { STORES } from './stores.ts';

const ANSWER_MAX_MS = 10_000;

const message = (bytes: Uint8Array, flag = 0): Buffer => {
  const prefix = Buffer.alloc(5);
  prefix[0] = flag;
  prefix.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([prefix, bytes]);
};
const range = message(encode('etcdserverpb.RangeRequest', { key: 'a' }, 0));
const RANGE = '/etcdserverpb.KV/Range';
const SNAPSHOT = '/etcdserverpb.Maintenance/Snapshot';
const KEEP_ALIVE = '/etcdserverpb.Lease/LeaseKeepAlive';

interface Case {
  readonly what: string;
  readonly headers?: OutgoingHttpHeaders;
  /** Headers to leave out. */
  readonly without?: readonly string[];
  readonly body?: Uint8Array;
  /** The reason why the store may answer differently. */
  readonly known?: string;
}

const REASON_AS_TEXT = 'a plain request is told as text why it is refused';
const SPACE_AROUND = 'a value with a space at its end is malformed (RFC 9113, 8.2.1)';
const GZIP = { 'grpc-encoding': 'gzip' } as const;
const zipped = gzipSync(range.subarray(5));

/** gRPC calls that no gRPC client makes. */
const CASES: readonly Case[] = [
  { what: 'a call' },
  { what: 'GET', headers: { ':method': 'GET' }, body: Buffer.alloc(0) },
  { what: 'PUT', headers: { ':method': 'PUT' } },
  { what: 'no content-type', known: REASON_AS_TEXT, without: ['content-type'] },
  { what: 'JSON', headers: { 'content-type': 'application/json' } },
  { what: 'grpc+proto', headers: { 'content-type': 'application/grpc+proto' } },
  { what: 'grpc;charset', headers: { 'content-type': 'application/grpc;charset=utf-8' } },
  { what: 'grpc+json', headers: { 'content-type': 'application/grpc+json' } },
  { what: 'grpc+', headers: { 'content-type': 'application/grpc+' } },
  { what: 'grpc+json, unknown method', headers: { 'content-type': 'application/grpc+json', ':path': '/x/y' } },
  { what: 'grpc+json, refused', headers: { 'content-type': 'application/grpc+json' }, body: message(Buffer.alloc(0)) },
  { what: 'grpc-web', headers: { 'content-type': 'application/grpc-web' } },
  { what: 'grpcx', headers: { 'content-type': 'application/grpcx' } },
  { what: 'no te', without: ['te'] },
  ...['1S', '1000m', '99999999H', '0n', '1', 'S', '-1S', '1x', '123456789S', '1.5S', ' 1S', '+1S', '1_0S', ''].map(
    (timeout) => ({
      what: `grpc-timeout ${timeout}`,
      headers: { 'grpc-timeout': timeout },
      ...(timeout.startsWith(' ') ? { known: SPACE_AROUND } : {}),
    }),
  ),
  ...['gzip', 'identity', 'snappy', ''].map((encoding) => ({
    what: `grpc-encoding ${encoding}`,
    headers: { 'grpc-encoding': encoding },
  })),
  { what: 'compressed without an encoding', body: Buffer.concat([Buffer.of(1), range.subarray(1)]) },
  { what: 'gzip', headers: GZIP, body: message(zipped, 1) },
  { what: 'gzip of nothing', headers: GZIP, body: message(gzipSync(Buffer.alloc(0)), 1) },
  { what: 'gzip in two members', headers: GZIP, body: message(Buffer.concat([zipped, gzipSync('')]), 1) },
  { what: 'gzip, and is not', headers: GZIP, body: message(range.subarray(5), 1) },
  { what: 'gzip, and is no message at all', headers: GZIP, body: message(Buffer.alloc(0), 1) },
  { what: 'gzip of another kind', headers: GZIP, body: message(Buffer.concat([Buffer.alloc(3), zipped]), 1) },
  { what: 'gzip, cut short', headers: GZIP, body: message(zipped.subarray(0, -9), 1) },
  {
    what: 'gzip with a wrong sum',
    headers: GZIP,
    body: message(Buffer.concat([zipped.subarray(0, -8), Buffer.alloc(8)]), 1),
  },
  { what: 'gzip, and more', headers: GZIP, body: message(Buffer.concat([zipped, Buffer.from('and more behind')]), 1) },
  { what: 'gzip of 2 MiB and one', headers: GZIP, body: message(gzipSync(Buffer.alloc(2_097_153)), 1) },
  { what: 'gzip of 100 MB', headers: GZIP, body: message(gzipSync(Buffer.alloc(100_000_000)), 1) },
  { what: 'gzip, unknown method', headers: { ...GZIP, ':path': '/etcdserverpb.KV/Ranges' }, body: message(zipped, 1) },
  { what: 'gzip to a stream', headers: { ...GZIP, ':path': KEEP_ALIVE }, body: message(gzipSync(Buffer.of(8, 1)), 1) },
  { what: 'snappy to a stream', headers: { 'grpc-encoding': 'snappy', ':path': KEEP_ALIVE } },
  { what: 'gzip from a stream', headers: { ...GZIP, ':path': SNAPSHOT }, body: message(gzipSync(Buffer.alloc(0)), 1) },
  { what: 'gzip asked for, and not used', headers: { 'grpc-accept-encoding': 'gzip' } },
  { what: 'a flag of 2', body: Buffer.concat([Buffer.of(2), range.subarray(1)]) },
  { what: 'nothing', body: Buffer.alloc(0) },
  { what: 'half a prefix', body: range.subarray(0, 3) },
  { what: 'half a message', body: range.subarray(0, 6) },
  { what: 'two messages', body: Buffer.concat([range, range]) },
  { what: 'a message and half a prefix', body: Buffer.concat([range, range.subarray(0, 3)]) },
  { what: 'a message and a half', body: Buffer.concat([range, range.subarray(0, 6)]) },
  { what: 'a message and a flag of 7', body: Buffer.concat([range, Buffer.from('0700000000', 'hex')]) },
  { what: 'a length of 2^32-1', body: Buffer.from('00ffffffff', 'hex') },
  { what: 'a length of 2 MiB and one', body: Buffer.from('0000200001', 'hex') },
  { what: 'hasleader', headers: { hasleader: 'true' } },
  { what: 'hasleader of no sense', headers: { hasleader: 'maybe' } },
  { what: 'a token, and no auth', headers: { token: 'abc' } },
  { what: 'an authorization, and no auth', headers: { authorization: 'Bearer x.y.z' } },
  { what: 'client-api-version', headers: { 'client-api-version': '3.7' } },
  { what: 'client-api-version, no text', headers: { 'client-api-version': '\xff\xfe' } },
  { what: 'unknown metadata', headers: { source: 'cache', 'x-bin': 'AAEC', 'y-bin': 'AAECAw==' } },
  ...['!!!', 'A', 'AAE', 'AAEC==', 'AA=', 'AA=A', 'AAE=A', 'AA EC', 'AAEC,AAEC', '-_8='].map((value) => ({
    what: `binary metadata ${value}`,
    headers: { 'x-bin': value },
  })),
  { what: 'metadata of 7 KiB', headers: { long: 'x'.repeat(7_000) } },
  { what: 'another authority', headers: { ':authority': 'any.example:1234' } },
  { what: 'an empty path', headers: { ':path': '/' } },
  { what: 'a path of one part', headers: { ':path': '/x' } },
  { what: 'a path of three parts', headers: { ':path': '/etcdserverpb.KV/Range/x' } },
  { what: 'a path with a query', headers: { ':path': `${RANGE}?x=y` } },
  { what: 'an escaped path', headers: { ':path': '/etcdserverpb.KV/R%61nge' } },
  { what: 'a path without a slash', headers: { ':path': 'etcdserverpb.KV/Range' } },
  ...[
    { what: 'nothing', body: Buffer.alloc(0) },
    { what: 'half a prefix', body: Buffer.alloc(3) },
    { what: 'half a message', body: range.subarray(0, 6) },
    { what: 'two messages', body: Buffer.alloc(10) },
    { what: 'a message and half a prefix', body: Buffer.alloc(8) },
    { what: 'a message and a flag of 7', body: Buffer.from('00000000000700000000', 'hex') },
  ].flatMap(({ what, body }) => [
    { what: `a server stream: ${what}`, headers: { ':path': SNAPSHOT }, body },
    { what: `a stream both ways: ${what}`, headers: { ':path': KEEP_ALIVE }, body },
  ]),
];

/** Compares an HTTP/2 call as a client sees it: status, headers, trailers, and the number of bytes between them. */
export async function http2Part(judge: Judge): Promise<void> {
  for (const one of CASES) {
    const answers = await Promise.all(
      STORES.map((_name, store) => answerTo(`http://${judge.stores.endpoint(store)}`, one)),
    );
    if (one.known === undefined) judge.equal(one.what, answers[0], answers[1]);
    else judge.known(`${one.what} (${one.known})`, answers[0], answers[1]);
  }
}

async function answerTo(origin: string, { headers = {}, without = [], body = range }: Case): Promise<unknown> {
  const session = connect(origin);
  session.on('error', () => {});
  try {
    const sent: OutgoingHttpHeaders = {
      ':method': 'POST',
      ':path': RANGE,
      'content-type': 'application/grpc',
      te: 'trailers',
      ...headers,
    };
    for (const name of without) delete sent[name];
    return await bounded('an answer', ANSWER_MAX_MS, exchange(session, sent, body));
  } catch (error) {
    return { failed: String(error) };
  } finally {
    session.destroy();
  }
}

function exchange(session: ClientHttp2Session, headers: OutgoingHttpHeaders, body: Uint8Array): Promise<unknown> {
  return new Promise((resolve) => {
    const stream = session.request(headers, { endStream: false });
    const answer: Record<string, unknown> = {};
    let bytes = 0;
    stream.on('response', (got) => Object.assign(answer, { headers: seen(got) }));
    stream.on('trailers', (got) => Object.assign(answer, { trailers: seen(got) }));
    stream.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    stream.on('error', () => {});
    stream.on('close', () => {
      const reset = stream.rstCode === constants.NGHTTP2_NO_ERROR ? undefined : stream.rstCode;
      resolve({ ...answer, hasBody: bytes > 0, reset });
    });
    stream.end(body);
  });
}

/** Drops the date and an empty grpc-message, so that both forms compare equal. */
function seen(headers: IncomingHttpHeaders): Record<string, unknown> {
  const { date: _date, ...rest } = headers;
  if (rest['grpc-message'] === '') delete rest['grpc-message'];
  return { ...rest };
}
