/**
 * A greedy client on one connection: greedy.ts PORT LISTS PREFIX NICE. Has so many lists of all keys of the prefix in flight, and asks
 * for another one whenever one is answered. Reads the answers and drops them. Prints `listing` with the first answer; on
 * SIGUSR2 it begins to count, and on SIGTERM it prints what it has had since then as JSON (`Had`).
 */
import { connect, constants, type ClientHttp2Session } from 'node:http2';
import { setPriority } from 'node:os';
import { etcdserverpb } from '@engram/wire';
import { CoreCount } from './core-count.ts';
import type { Had } from './greedy-client.ts';

const WINDOW_BYTES = 64 * 1024 * 1024;
const [port, lists, prefix = '', nice] = process.argv.slice(2);
const key = Buffer.from(prefix);
const rangeEnd = Buffer.from(`${prefix.slice(0, -1)}${String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1)}`);
const message = etcdserverpb.encodeRangeRequest({ key, rangeEnd });
const request = Buffer.concat([Buffer.alloc(5), message]);
request.writeUInt32BE(message.length, 1);

let [listed, bytes, failures, sinceMs] = [0, 0, 0, performance.now()];
const count = new CoreCount();
let said = false;
setPriority(Number(nice ?? 0));

function list(session: ClientHttp2Session): void {
  const stream = session.request({
    [constants.HTTP2_HEADER_METHOD]: 'POST',
    [constants.HTTP2_HEADER_PATH]: '/etcdserverpb.KV/Range',
    [constants.HTTP2_HEADER_CONTENT_TYPE]: 'application/grpc',
    [constants.HTTP2_HEADER_TE]: 'trailers',
  });
  let failed = true;
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  stream.on('trailers', (trailers) => {
    failed = trailers['grpc-status'] !== '0';
  });
  stream.on('error', () => {});
  stream.on('close', () => {
    if (session.closed || session.destroyed) return;
    if (failed) failures += 1;
    else listed += 1;
    if (!said) console.log('listing');
    said = true;
    list(session);
  });
  stream.end(request);
}

process.on('SIGUSR2', () => {
  [listed, bytes, failures, sinceMs] = [0, 0, 0, performance.now()];
  count.begin();
});
process.on('SIGTERM', () => {
  const seconds = (performance.now() - sinceMs) / 1000;
  const had: Had = { lists: listed, bytes, failures, seconds, cores: count.cores };
  console.log(JSON.stringify(had));
  process.exit(0);
});

const session = connect(`http://127.0.0.1:${port}`, { settings: { initialWindowSize: WINDOW_BYTES } });
session.on('connect', () => {
  session.setLocalWindowSize(WINDOW_BYTES);
  for (let at = 0; at < Number(lists); at += 1) list(session);
});
session.on('close', () => {
  console.error('the connection of the greedy client has ended');
  process.exit(1);
});
