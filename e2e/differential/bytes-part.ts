import type { Prng } from '@engram/sim';
import { covers } from './collisions.ts';
import type { Judge, Method } from './judge.ts';
import { decode, delimited, encode, type Fields, varint } from './messages.ts';
import * as ask from './methods.ts';
import { RandomRequests } from './random-requests.ts';
import { StreamPair } from './stream-pair.ts';

const hex = (text: string): Uint8Array => Buffer.from(text.replaceAll(' ', ''), 'hex');
const bytes = (...parts: readonly Uint8Array[]): Uint8Array => Buffer.concat(parts);
const text = (field: number, value: string): Uint8Array => delimited(field, Buffer.from(value, 'latin1'));
const number = (field: number, value: bigint): Uint8Array => bytes(varint(BigInt(field * 8)), varint(value));

/** Bytes that are not a message, and messages that no encoder produces. */
const ODD: readonly (readonly [string, Uint8Array])[] = [
  ['nothing', hex('')],
  ['a tag without a value', hex('08')],
  ['a length without bytes', hex('0a05 61')],
  ['a length of 2^64-1', hex('0a ffffffffffffffffff01')],
  ['a length of 2^31', hex('0a 8080808008 61')],
  ['a number of eleven bytes', hex('18 ffffffffffffffffffff01')],
  ['a number of more than 64 bits', hex('18 ffffffffffffffffff02')],
  ['a number of ten bytes that is zero', hex('0a0161 18 80808080808080808000')],
  ['a tag of ten bytes', hex('0a0161 98808080808080808000 00')],
  ['field 0', hex('0000')],
  ['field 2^29', hex('8080808010 00')],
  ['field 2^29-1', bytes(text(1, 'a'), hex('f8ffffff0f 00'))],
  ['wire type 6', hex('0e')],
  ['wire type 7', hex('0f')],
  ['a fixed32 that is cut', hex('0a0161 7d 0102')],
  [
    'unknown fields of every kind',
    bytes(text(1, 'a'), number(99, 7n), text(98, 'x'), hex('f906 0102030405060708'), hex('fd06 01020304')),
  ],
  ['an unknown group', bytes(text(1, 'a'), hex('a306 0801 a406'))],
  ['a group that does not end', bytes(text(1, 'a'), hex('a306 0801'))],
  ['the end of another group', bytes(text(1, 'a'), hex('a306 ac06'))],
  ['an end without a group', bytes(text(1, 'a'), hex('a406'))],
  ['the key twice', bytes(text(1, 'a'), text(1, 'b'))],
  ['the key twice, the second empty', bytes(text(1, 'a'), text(1, ''))],
  ['the key as a number', bytes(number(1, 5n))],
  ['the key as a number, then as a key', bytes(number(1, 5n), text(1, 'a'))],
  ['a number as bytes', bytes(text(1, 'a'), text(3, '\x05'))],
  ['a flag of 2', bytes(text(1, 'a'), number(4, 2n), number(7, 2n))],
  ['a flag of 2^63', bytes(text(1, 'a'), number(4, 2n ** 63n), number(7, 2n ** 63n))],
  ['an enum of 2^32', bytes(text(1, 'a'), number(5, 2n ** 32n), number(6, 2n ** 32n + 1n))],
  ['explicit zeroes', bytes(text(1, 'a'), text(2, ''), number(3, 0n), number(4, 0n))],
];

const unary: readonly Method[] = [ask.range, ask.put, ask.deleteRange, ask.txn, ask.leaseGrant, ask.leaseTimeToLive];

export async function bytesPart(judge: Judge, prng: Prng, steps: number): Promise<void> {
  for (const asked of unary) {
    for (const [what, sent] of ODD) await raw(judge, asked, what, sent);
  }
  await oddTransactions(judge);
  await oddStreams(judge);
  await texts(judge);
  await mutations(judge, prng, steps);
}

/** None of these requests grants a lease or reads its time, because such answers depend on the time. */
function raw(judge: Judge, asked: Method, what: string, sent: Uint8Array): Promise<unknown> {
  const label = `${asked.path} with ${what}: ${Buffer.from(sent).toString('hex')}`;
  return judge.callBytes(asked, [sent, sent], label, undefined, { ignore: ['TTL', 'ID'] });
}

/** A oneof with several members, members in pieces, and deep nesting. */
async function oddTransactions(judge: Judge): Promise<void> {
  const put = (value: Fields): Uint8Array => delimited(2, encode('etcdserverpb.PutRequest', value, 0));
  const range = (value: Fields): Uint8Array => delimited(1, encode('etcdserverpb.RangeRequest', value, 0));
  const inner = (success: Uint8Array): Uint8Array => delimited(4, delimited(2, success));
  const compare = (...parts: readonly Uint8Array[]): Uint8Array => delimited(1, bytes(text(3, 'a'), ...parts));
  const success = (...parts: readonly Uint8Array[]): Uint8Array => delimited(2, bytes(...parts));
  const cases: readonly (readonly [string, Uint8Array])[] = [
    ['a put in two pieces', success(put({ key: 'piece' }), put({ value: 'two' }))],
    ['a range, then a put', success(range({ key: 'a' }), put({ key: 'later' }))],
    ['a put, then a range', success(put({ key: 'earlier' }), range({ key: 'a' }))],
    ['a put, a range, a put', success(put({ key: 'first' }), range({ key: 'a' }), put({ value: 'third' }))],
    ['two transactions in one op', success(inner(put({ key: 'inner 1' })), inner(put({ key: 'inner 2' })))],
    ['an op of an unknown kind', success(text(9, 'x'))],
    ['an op as a number', bytes(number(2, 1n))],
    [
      'two targets of a compare',
      bytes(compare(number(2, 0n), number(4, 1n), number(5, 0n)), success(put({ key: 'targets' }))),
    ],
    [
      'a value and a version',
      bytes(compare(number(2, 3n), text(7, 'v'), number(4, 0n)), success(put({ key: 'targets' }))),
    ],
    ['a target without a union', bytes(compare(number(2, 3n)), success(put({ key: 'targets' })))],
    ['a union with its default', bytes(compare(number(2, 1n), number(5, 0n)), success(put({ key: 'targets' })))],
    ['a result of 2^32', bytes(compare(number(1, 2n ** 32n), number(4, 0n)), success(put({ key: 'targets' })))],
    ['a compare of no bytes', bytes(delimited(1, hex('')))],
    ['malformed inside', success(delimited(2, hex('0a05 61')))],
    ['a wrong end inside', success(delimited(2, hex('0a0161 a406')))],
  ];
  for (const [what, sent] of cases) await raw(judge, ask.txn, what, sent);
  for (const depth of [2, 20, 60, 90, 126, 127, 128, 130, 140]) {
    let nested = put({ key: `depth ${depth}` });
    for (let level = 0; level < depth; level += 1) nested = delimited(4, delimited(2, nested));
    await raw(judge, ask.txn, `depth ${depth}`, delimited(2, nested));
  }
  for (const count of [127, 128, 129]) {
    const ops = Array.from({ length: count }, (_, at) => ({ requestPut: { key: `many/${at}` } }));
    const compares = Array.from({ length: count }, (_, at) => ({ key: `many/${at}`, target: 0, version: 1n }));
    await judge.call(ask.txn, { success: ops });
    await judge.call(ask.txn, { failure: ops });
    await judge.call(ask.txn, { compare: compares });
    await judge.call(ask.txn, { success: ops, failure: ops, compare: compares });
    await judge.call(ask.txn, { success: [{ requestTxn: { success: ops } }] });
    await judge.call(ask.txn, { success: [{ requestTxn: { success: ops.slice(1) } }] });
    await judge.call(ask.txn, {
      success: [{ requestTxn: { success: ops.slice(2) } }, { requestTxn: { failure: ops.slice(2) } }],
    });
  }
}

/** Bytes that are not a message end the stream with a status. */
async function oddStreams(judge: Judge): Promise<void> {
  const streams = [
    ['Watch/Watch', 'WatchRequest', 'WatchResponse'],
    ['Lease/LeaseKeepAlive', 'LeaseKeepAliveRequest', 'LeaseKeepAliveResponse'],
  ] as const;
  for (const [path, request, response] of streams) {
    for (const sent of [hex('0a05 61'), hex('0f'), hex('0000'), hex('08')]) {
      const pair = new StreamPair(
        judge,
        `/etcdserverpb.${path}`,
        `etcdserverpb.${request}`,
        `etcdserverpb.${response}`,
      );
      pair.sendBytes(sent);
      const ended = await pair.until(`the end of ${path}`, (store) => pair.ended(store) !== undefined);
      if (ended) judge.equal(`${path}: ${Buffer.from(sent).toString('hex')}`, pair.ended(0), pair.ended(1));
      pair.close();
    }
  }
}

/** Strings must be UTF-8. */
async function texts(judge: Judge): Promise<void> {
  for (const version of [
    hex('ff'),
    hex('c080'),
    hex('eda080'),
    hex('f4908080'),
    hex('efbbbf332e36'),
    hex('332e3600'),
  ]) {
    await judge.call(ask.downgrade, { version });
  }
  const health = { path: 'grpc.health.v1.Health/Check', response: 'grpc.health.v1.HealthCheckResponse' };
  for (const service of [hex('ff'), Buffer.from('ü€🙂'), hex('00')]) {
    const sent = delimited(1, service);
    await judge.callBytes(health, [sent, sent], `health of ${Buffer.from(service).toString('hex')}`, undefined);
  }
}

/** Valid requests with a few bytes changed. */
async function mutations(judge: Judge, prng: Prng, steps: number): Promise<void> {
  const make = new RandomRequests(prng);
  const kinds: readonly (readonly [Method, () => Fields])[] = [
    [ask.range, () => make.range()],
    [ask.put, () => make.put()],
    [ask.deleteRange, () => make.deleteRange()],
    [ask.txn, () => make.txn()],
  ];
  for (let step = 0; step < steps; step += 1) {
    make.revision = judge.revision;
    const [asked, request] = prng.pick(kinds);
    const sent = mutate(prng, encode(asked.request, request(), 0));
    const read = readable(asked, sent);
    if (read === undefined || !('success' in read || 'failure' in read) || !covers(read)) {
      const label = `${asked.path} ${Buffer.from(sent).toString('hex')}`;
      await judge.callBytes(asked, [sent, sent], label, read);
    }
  }
}

/** The decoded message. Undefined if this decoder cannot read it. */
function readable({ request }: Method, sent: Uint8Array): Fields | undefined {
  try {
    return decode(request, sent, () => undefined);
  } catch {
    return undefined;
  }
}

function mutate(prng: Prng, original: Uint8Array): Uint8Array {
  const changed = [...original];
  for (let count = 1 + prng.below(3); count > 0 && changed.length > 0; count -= 1) {
    const at = prng.below(changed.length);
    const kind = prng.below(5);
    if (kind === 0) changed[at] = prng.below(256);
    else if (kind === 1) changed[at]! ^= 1 << prng.below(8);
    else if (kind === 2) changed.splice(at, 1 + prng.below(3));
    else if (kind === 3) changed.splice(at, 0, prng.below(256));
    else changed.splice(changed.length - prng.below(4));
  }
  return Uint8Array.from(changed);
}
