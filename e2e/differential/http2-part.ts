import {
  connect,
  constants,
  type ClientHttp2Session,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http2';
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

interface Case {
  readonly what: string;
  readonly headers?: OutgoingHttpHeaders;
  /** Headers to leave out. */
  readonly without?: readonly string[];
  readonly body?: Uint8Array;
  /** Why the store may answer otherwise. */
  readonly known?: string;
}

const REFUSED_AS_HTTP = 'what is no gRPC is refused as HTTP, without a status of gRPC';
const ONE_TYPE = 'every answer is application/grpc, whatever subtype was asked';
const OWN_WORDS = "the words for a malformed timeout are those of Go's strconv there";
const NO_GZIP = 'messages are not decompressed yet';
const CUT_SHORT = 'a request that is cut short is INTERNAL, as grpc-go says on its streams';
const ONE_MESSAGE = 'a unary call has one message; etcd does not look behind it';

/** gRPC calls as no client of gRPC would make them. */
const CASES: readonly Case[] = [
  { what: 'a call' },
  { what: 'GET', headers: { ':method': 'GET' }, body: Buffer.alloc(0) },
  { what: 'PUT', headers: { ':method': 'PUT' } },
  { what: 'no content-type', known: REFUSED_AS_HTTP, without: ['content-type'] },
  { what: 'JSON', known: REFUSED_AS_HTTP, headers: { 'content-type': 'application/json' } },
  { what: 'grpc+proto', known: ONE_TYPE, headers: { 'content-type': 'application/grpc+proto' } },
  { what: 'grpc;charset', known: ONE_TYPE, headers: { 'content-type': 'application/grpc;charset=utf-8' } },
  { what: 'grpc+json', known: ONE_TYPE, headers: { 'content-type': 'application/grpc+json' } },
  { what: 'grpc-web', known: REFUSED_AS_HTTP, headers: { 'content-type': 'application/grpc-web' } },
  { what: 'grpcx', known: REFUSED_AS_HTTP, headers: { 'content-type': 'application/grpcx' } },
  { what: 'no te', without: ['te'] },
  ...['1S', '1000m', '99999999H', '0n', '1', 'S', '-1S', '1x', '123456789S', '1.5S', ' 1S'].map((timeout) => ({
    what: `grpc-timeout ${timeout}`,
    headers: { 'grpc-timeout': timeout },
    ...(/^(?:-1|1\.5| 1)S$/.test(timeout) ? { known: OWN_WORDS } : {}),
  })),
  ...['gzip', 'identity', 'snappy', ''].map((encoding) => ({
    what: `grpc-encoding ${encoding}`,
    headers: { 'grpc-encoding': encoding },
    ...(encoding === 'gzip' ? { known: NO_GZIP } : {}),
  })),
  { what: 'compressed without an encoding', body: Buffer.concat([Buffer.of(1), range.subarray(1)]) },
  {
    what: 'compressed as gzip, and is not',
    known: NO_GZIP,
    headers: { 'grpc-encoding': 'gzip' },
    body: Buffer.concat([Buffer.of(1), range.subarray(1)]),
  },
  { what: 'a flag of 2', body: Buffer.concat([Buffer.of(2), range.subarray(1)]) },
  { what: 'nothing', known: CUT_SHORT, body: Buffer.alloc(0) },
  { what: 'half a prefix', known: CUT_SHORT, body: range.subarray(0, 3) },
  { what: 'half a message', known: CUT_SHORT, body: range.subarray(0, 6) },
  { what: 'two messages', known: ONE_MESSAGE, body: Buffer.concat([range, range]) },
  { what: 'a message and a half', known: ONE_MESSAGE, body: Buffer.concat([range, range.subarray(0, 3)]) },
  { what: 'a length of 2^32-1', body: Buffer.from('00ffffffff', 'hex') },
  { what: 'a length of 2 MiB and one', body: Buffer.from('0000200001', 'hex') },
  { what: 'hasleader', headers: { hasleader: 'true' } },
  { what: 'hasleader of no sense', headers: { hasleader: 'maybe' } },
  { what: 'a token, and no auth', headers: { token: 'abc' } },
  { what: 'an authorization, and no auth', headers: { authorization: 'Bearer x.y.z' } },
  { what: 'client-api-version', headers: { 'client-api-version': '3.7' } },
  { what: 'client-api-version, no text', headers: { 'client-api-version': '\xff\xfe' } },
  { what: 'unknown metadata', headers: { source: 'cache', 'x-bin': 'AAEC', 'y-bin': 'AAECAw==' } },
  {
    what: 'binary metadata that is not base64',
    known: 'metadata that nobody reads is not decoded',
    headers: { 'x-bin': '!!!' },
  },
  { what: 'metadata of 7 KiB', headers: { long: 'x'.repeat(7_000) } },
  { what: 'another authority', headers: { ':authority': 'any.example:1234' } },
  { what: 'an empty path', headers: { ':path': '/' } },
  { what: 'a path of one part', headers: { ':path': '/x' } },
  { what: 'a path of three parts', headers: { ':path': '/etcdserverpb.KV/Range/x' } },
  { what: 'a path with a query', headers: { ':path': `${RANGE}?x=y` } },
  { what: 'an escaped path', headers: { ':path': '/etcdserverpb.KV/R%61nge' } },
  { what: 'a path without a slash', headers: { ':path': 'etcdserverpb.KV/Range' } },
  {
    what: 'a stream of one message to a server stream',
    known: CUT_SHORT,
    headers: { ':path': '/etcdserverpb.Maintenance/Snapshot' },
    body: Buffer.alloc(0),
  },
];

/** What HTTP/2 shows of a call: its status, its headers and trailers, and how many bytes came between them. */
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

/** A date is nobody's answer, and no message is an empty one. */
function seen(headers: IncomingHttpHeaders): Record<string, unknown> {
  const { date: _date, ...rest } = headers;
  if (rest['grpc-message'] === '') delete rest['grpc-message'];
  return { ...rest };
}
