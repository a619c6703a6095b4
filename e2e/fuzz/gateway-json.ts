import { isDeepStrictEqual } from 'node:util';
import { JsonOfMessage, JsonText, messageOfJson } from '@engram/gateway/testing';
import { routes } from '@engram/gateway';
import { finish, StepPace, unhurried } from '@engram/loop';
import { fromJson, toJson } from '@engram/protobuf/testing';
import type { Prng } from '@engram/sim';
import { etcdserverpb, etcdserverpbJson } from '@engram/wire';
import { someCall } from './messages.ts';

const BYTES_MAX = 2 * 1024 * 1024;
const table = etcdserverpbJson.TxnRequestJson;

/** The request of a random call as the gateway would get it. */
export function someJson(random: Prng): Buffer {
  const { path, message } = someCall(random);
  const route = routes.find(({ method }) => method === path);
  if (route === undefined) return Buffer.from('{}');
  const json = new JsonOfMessage(route.request);
  return Buffer.from(json.push(message) + json.end());
}

/**
 * Reads a transaction in slices of no length and as a whole: both must be the same message. Its own JSON must give it again, and so must
 * the reader of decoded JSON where it takes the same text.
 */
export function readJson(bytes: Buffer): void {
  const read = (turn: typeof unhurried): Uint8Array =>
    finish(messageOfJson(table, new JsonText(bytes, turn), BYTES_MAX, turn));
  const message = read(unhurried);
  if (!isDeepStrictEqual(message, read(new StepPace(0)))) throw new Error('another message in slices');
  const decoded = etcdserverpb.decodeTxnRequest(message);
  const json = toJson(table, decoded);
  const again = finish(
    messageOfJson(table, new JsonText(Buffer.from(JSON.stringify(json)), unhurried), BYTES_MAX, unhurried),
  );
  if (!isDeepStrictEqual(toJson(table, etcdserverpb.decodeTxnRequest(again)), json))
    throw new Error('another message from its own JSON');
  const other = otherReading(bytes.toString());
  if (other !== undefined && !isDeepStrictEqual(toJson(table, other), json)) throw new Error('two readers disagree');
}

/** Undefined where the other reader is known to be unlike: what is behind a value, and numbers that are not exact. */
function otherReading(text: string): object | undefined {
  if (/\d{16}/.test(text) || text.includes('\ufffd')) return undefined;
  try {
    return fromJson(table, JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** A transaction as JSON, with its bytes cut at each place, must be that of its decoded form. */
export function writeJson(bytes: Buffer): void {
  const message = etcdserverpb.encodeTxnRequest(etcdserverpb.decodeTxnRequest(bytes));
  const json = new JsonOfMessage(table);
  let text = '';
  for (const byte of message) text += json.push(Uint8Array.of(byte));
  text += json.end();
  if (!isDeepStrictEqual(JSON.parse(text), toJson(table, etcdserverpb.decodeTxnRequest(message))))
    throw new Error('another text in pieces');
}
