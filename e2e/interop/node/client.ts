/** The checks of e2e/interop with @grpc/grpc-js: see ../README.md. Messages go through the store's own codecs. */
import { readFileSync } from 'node:fs';
import { type ChannelCredentials, Client, compressionAlgorithms, credentials, Metadata, status } from '@grpc/grpc-js';
import { etcdserverpb as pb, v3electionpb as epb, v3lockpb as lpb } from '@engram/wire';
import { EtcdClient } from '../../../test/support/etcd-client.ts';

const WAIT_MAX_MS = 20_000;
const LARGE_BYTES = 1_400_000;
const LARGE_KEYS = 22;
const PREFIX = '/interop/node/';
const endpoint = process.env['ENDPOINT'] ?? '';
const bytes = (text: string): Uint8Array => Buffer.from(PREFIX + text);
const same = (message: Buffer): Buffer => message;
const toBuffer = (message: Uint8Array): Buffer => Buffer.from(message);

function equal(found: unknown, wanted: unknown): void {
  const [left, right] = [found, wanted].map((value) =>
    JSON.stringify(value, (_name, part: unknown) => (typeof part === 'bigint' ? Number(part) : part)),
  );
  if (left !== right) throw new Error(`${left}, and not ${right}`);
}

function channel(to = endpoint, how: ChannelCredentials = credentials.createInsecure(), options = {}): Client {
  return new Client(to, how, { 'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1, ...options });
}

function unary(client: Client, name: string, request: Uint8Array, metadata = new Metadata()): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const deadline = Date.now() + WAIT_MAX_MS;
    client.makeUnaryRequest(
      name.startsWith('/') ? name : `/etcdserverpb.${name}`,
      toBuffer,
      same,
      request,
      metadata,
      { deadline },
      (error, answer) => (error === null ? resolve(answer ?? Buffer.alloc(0)) : reject(error)),
    );
  });
}

/** The code and details with which a call failed. */
async function refusal(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'not refused';
  } catch (error) {
    return error instanceof Error && 'details' in error && 'code' in error
      ? `${error.code} ${error.details}`
      : String(error);
  }
}

const store = new EtcdClient(endpoint, { deadlineMs: WAIT_MAX_MS });
const raw = channel();
const rangeOf = (name: string, end = name): Uint8Array =>
  pb.encodeRangeRequest({ key: bytes(name), ...(end === name ? {} : { rangeEnd: bytes(end) }) });

const newLease = async (): Promise<bigint> => (await store.leaseGrant({ TTL: 60 })).ID;

async function untilKeys(name: string, count: number): Promise<void> {
  const range = { key: bytes(`${name}/`), rangeEnd: bytes(`${name}0`), countOnly: true };
  while ((await store.range(range)).count < count) await new Promise((resolve) => setTimeout(resolve, 10));
}

const checks: Readonly<Record<string, () => Promise<void>>> = {
  async kv() {
    const key = bytes('\0\u00ff');
    const put = await store.put({ key, value: Uint8Array.of(0, 255, 254) });
    const { kvs } = await store.range({ key });
    equal([...(kvs[0]?.value ?? [])], [0, 255, 254]);
    equal(kvs[0]?.modRevision, put.header?.revision);
  },
  async range() {
    for (let at = 0; at < 5; at += 1) await store.put({ key: bytes(`range/${at}`) });
    const found = await store.range({
      key: bytes('range/'),
      rangeEnd: bytes('range0'),
      limit: 2,
      sortOrder: pb.RangeRequestSortOrder.DESCEND,
      sortTarget: pb.RangeRequestSortTarget.KEY,
    });
    equal([found.count, found.more, found.kvs.length], [5, true, 2]);
    equal(Buffer.from(found.kvs[0]?.key ?? []).toString(), `${PREFIX}range/4`);
  },
  async txn() {
    const key = bytes('txn');
    for (const wanted of [true, false]) {
      const found = await store.txn({
        compare: [{ key, target: pb.CompareCompareTarget.CREATE, result: pb.CompareCompareResult.EQUAL }],
        success: [{ requestPut: { key, value: Buffer.from('made') } }],
        failure: [{ requestRange: { key } }],
      });
      equal(found.succeeded, wanted);
      if (!wanted) equal(Buffer.from(found.responses[0]?.responseRange?.kvs[0]?.value ?? []).toString(), 'made');
    }
  },
  async delete() {
    const found = await store.deleteRange({ key: bytes('range/'), rangeEnd: bytes('range0'), prevKv: true });
    equal([found.deleted, found.prevKvs.length], [5, 5]);
  },
  async watch() {
    const types: unknown[] = [];
    for await (const answer of store.watch({ key: bytes('watch/'), rangeEnd: bytes('watch0'), prevKv: true })) {
      if (answer.created) {
        await store.put({ key: bytes('watch/a'), value: Buffer.from('1') });
        await store.deleteRange({ key: bytes('watch/a') });
      }
      for (const event of answer.events) types.push(event.type, Buffer.from(event.prevKv?.value ?? []).toString());
      if (types.length === 4) break;
    }
    equal(types, [0, '', 1, '1']);
  },
  async lease() {
    const { ID } = await store.leaseGrant({ TTL: 60 });
    await store.put({ key: bytes('leased'), lease: ID });
    for (let at = 0; at < 3; at += 1) equal((await store.leaseKeepAliveOnce(ID)).TTL, 60);
    await store.leaseRevoke({ ID });
    equal((await store.range({ key: bytes('leased') })).count, 0);
  },
  async lock() {
    const lock = async (ID: bigint): Promise<Uint8Array> => {
      const request = lpb.encodeLockRequest({ name: bytes('lock'), lease: ID });
      return lpb.decodeLockResponse(await unary(raw, '/v3lockpb.Lock/Lock', request)).key;
    };
    const unlock = (key: Uint8Array): Promise<Buffer> =>
      unary(raw, '/v3lockpb.Lock/Unlock', lpb.encodeUnlockRequest({ key }));
    const first = await lock(await newLease());
    const second = lock(await newLease());
    await untilKeys('lock', 2);
    await unlock(first);
    await unlock(await second);
    equal((await store.range({ key: bytes('lock/'), rangeEnd: bytes('lock0') })).count, 0);
    equal(await refusal(lock(4711n)), '2 etcdserver: requested lease not found');
  },
  async election() {
    const name = bytes('election');
    const campaign = async (value: string, lease: bigint): Promise<epb.LeaderKey | undefined> => {
      const request = epb.encodeCampaignRequest({ name, lease, value: Buffer.from(value) });
      return epb.decodeCampaignResponse(await unary(raw, '/v3electionpb.Election/Campaign', request)).leader;
    };
    const resign = (leader = first): Promise<Buffer> =>
      unary(raw, '/v3electionpb.Election/Resign', epb.encodeResignRequest({ leader: leader! }));
    const first = await campaign('a', await newLease());
    const request = epb.encodeLeaderRequest({ name });
    const seen = raw.makeServerStreamRequest('/v3electionpb.Election/Observe', toBuffer, same, request, new Metadata());
    seen.on('error', () => {});
    const messages = seen[Symbol.asyncIterator]();
    const next = async (): Promise<string> => {
      const { value: message }: { value?: unknown } = await messages.next();
      if (!Buffer.isBuffer(message)) throw new Error('no answer');
      return Buffer.from(epb.decodeLeaderResponse(message).kv?.value ?? []).toString();
    };
    equal(await next(), 'a');
    const proclaim = epb.encodeProclaimRequest({ leader: first!, value: Buffer.from('b') });
    await unary(raw, '/v3electionpb.Election/Proclaim', proclaim);
    equal(await next(), 'b');
    const second = campaign('c', await newLease());
    await untilKeys('election', 2);
    await resign();
    equal(await next(), 'c');
    seen.cancel();
    await resign(await second);
    equal(await refusal(unary(raw, '/v3electionpb.Election/Leader', request)), '2 election: no leader');
  },
  async users() {
    const other = channel(process.env['USERS_ENDPOINT']);
    const logIn = async (password: string): Promise<string> => {
      const request = pb.encodeAuthenticateRequest({ name: process.env['USER_NAME'] ?? '', password });
      return pb.decodeAuthenticateResponse(await unary(other, 'Auth/Authenticate', request)).token;
    };
    const failed = '3 etcdserver: authentication failed, invalid user ID or password';
    equal(await refusal(logIn('another')), failed);
    const user = new Metadata();
    user.set('token', await logIn(process.env['PASSWORD'] ?? ''));
    await unary(other, 'KV/Put', pb.encodePutRequest({ key: bytes('users'), value: Buffer.from('mine') }), user);
    const { kvs } = pb.decodeRangeResponse(await unary(other, 'KV/Range', rangeOf('users'), user));
    equal(Buffer.from(kvs[0]?.value ?? []).toString(), 'mine');
    const denied = 'etcdserver: permission denied';
    const elsewhere = Buffer.from('/elsewhere');
    const put = pb.encodePutRequest({ key: elsewhere });
    equal(await refusal(unary(other, 'KV/Put', put, user)), `7 ${denied}`);
    const above = pb.encodeRangeRequest({ key: bytes(''), rangeEnd: Uint8Array.of(0) });
    equal(await refusal(unary(other, 'KV/Range', above, user)), `7 ${denied}`);
    const lock = lpb.encodeLockRequest({ name: bytes('users-lock') });
    const { key } = lpb.decodeLockResponse(await unary(other, '/v3lockpb.Lock/Lock', lock, user));
    await unary(other, '/v3lockpb.Lock/Unlock', lpb.encodeUnlockRequest({ key }), user);
    const lockElsewhere = unary(other, '/v3lockpb.Lock/Lock', lpb.encodeLockRequest({ name: elsewhere }), user);
    equal(await refusal(lockElsewhere), `2 ${denied}`);
    equal(await refusal(unary(other, 'KV/Range', rangeOf('users'))), '3 etcdserver: user name is empty');
    other.close();
  },
  async deadline() {
    equal(await watchEnd({ deadline: Date.now() + 300 }), status.DEADLINE_EXCEEDED);
  },
  async cancel() {
    equal(await watchEnd({}), status.CANCELLED);
  },
  async 'large-request'() {
    const value = Buffer.alloc(LARGE_BYTES, 'large');
    for (let at = 0; at < LARGE_KEYS; at += 1) await store.put({ key: bytes(`large/${at}`), value });
  },
  async 'large-answer'() {
    const { kvs } = await store.range({ key: bytes('large/'), rangeEnd: bytes('large0') });
    equal(
      kvs.reduce((sum, { value }) => sum + value.length, 0),
      LARGE_BYTES * LARGE_KEYS,
    );
    await store.deleteRange({ key: bytes('large/'), rangeEnd: bytes('large0') });
  },
  async 'too-large'() {
    const put = (size: number): Uint8Array => pb.encodePutRequest({ key: bytes('x'), value: new Uint8Array(size) });
    equal(await refusal(unary(raw, 'KV/Put', put(1_600_000))), '3 etcdserver: request is too large');
    const larger = put(3_000_000);
    const text = `8 grpc: received message larger than max (${larger.length} vs. 2097152)`;
    equal(await refusal(unary(raw, 'KV/Put', larger)), text);
  },
  async errors() {
    equal(await refusal(unary(raw, 'KV/Range', new Uint8Array(0))), '3 etcdserver: key is not provided');
    const future = pb.encodeRangeRequest({ key: bytes('a'), revision: 2 ** 40 });
    const text = '11 etcdserver: mvcc: required revision is a future revision';
    equal(await refusal(unary(raw, 'KV/Range', future)), text);
    const revoke = pb.encodeLeaseRevokeRequest({ ID: 4711n });
    equal(await refusal(unary(raw, 'Lease/LeaseRevoke', revoke)), '5 etcdserver: requested lease not found');
    const nothing = unary(raw, 'KV/Nothing', new Uint8Array(0));
    equal(await refusal(nothing), '12 unknown method Nothing for service etcdserverpb.KV');
  },
  async metadata() {
    const metadata = new Metadata();
    metadata.set('hasleader', 'true');
    metadata.set('x-text', 'a b');
    metadata.set('x-bin', Buffer.from([0, 255, 1]));
    await unary(raw, 'KV/Range', rangeOf('x'), metadata);
  },
  async gzip() {
    const zipped = channel(endpoint, undefined, {
      'grpc.default_compression_algorithm': compressionAlgorithms.gzip,
      'grpc.use_local_subchannel_pool': 1,
    });
    const value = Buffer.alloc(195_000, 'compressible ');
    const watch = zipped.makeBidiStreamRequest('/etcdserverpb.Watch/Watch', toBuffer, same, new Metadata());
    const answers = watch[Symbol.asyncIterator]();
    const next = async (): Promise<ReturnType<typeof pb.decodeWatchResponse>> => {
      const { value: message }: { value?: unknown } = await answers.next();
      if (!Buffer.isBuffer(message)) throw new Error('no answer');
      return pb.decodeWatchResponse(message);
    };
    watch.on('error', () => {});
    watch.write(pb.encodeWatchRequest({ createRequest: { key: bytes('gzip') } }));
    equal((await next()).created, true);
    await unary(zipped, 'KV/Put', pb.encodePutRequest({ key: bytes('gzip'), value }));
    const { kvs } = pb.decodeRangeResponse(await unary(zipped, 'KV/Range', rangeOf('gzip')));
    equal(value.equals(kvs[0]?.value ?? Buffer.alloc(0)), true);
    equal(value.equals((await next()).events[0]?.kv?.value ?? Buffer.alloc(0)), true);
    watch.cancel();
    zipped.close();
  },
  async parallel() {
    const one = async (at: number): Promise<void> => {
      const key = bytes(`parallel/${at}`);
      await store.put({ key, value: key });
      equal(Buffer.from((await store.range({ key })).kvs[0]?.value ?? []).equals(key), true);
    };
    await Promise.all(Array.from({ length: 1_000 }, (_, at) => one(at)));
  },
  async tls() {
    const ca = readFileSync(process.env['CA_FILE'] ?? '');
    const secure = channel(process.env['TLS_ENDPOINT'], credentials.createSsl(ca));
    await unary(secure, 'KV/Range', rangeOf('x'));
    secure.close();
  },
};

/** The code of a watch stream without watchers that is cancelled or reaches its deadline. */
function watchEnd(options: { readonly deadline?: number }): Promise<number> {
  return new Promise((resolve) => {
    const watch = raw.makeBidiStreamRequest('/etcdserverpb.Watch/Watch', toBuffer, same, new Metadata(), options);
    watch.on('error', () => {});
    watch.on('status', ({ code }) => resolve(code));
    watch.resume();
    if (options.deadline === undefined) watch.cancel();
  });
}

for (const [name, work] of Object.entries(checks)) {
  try {
    await work();
    console.log(`ok ${name}`);
  } catch (error) {
    console.log(`FAILED ${name}: ${String(error)}`);
  }
}
store.close();
raw.close();
// Channels of grpc-js would keep the process alive.
process.exit();
