import { createHash } from 'node:crypto';
import { EtcdClient, EtcdSource } from '@engram/migration';
import { etcdserverpb as pb, mvccpb } from '@engram/wire';

const PAGE = 5_000;
const ALL = Uint8Array.of(0);
/** Calls that run at a time. */
const CALLS = 32;
const never = new AbortController().signal;

/** Who reads: the store has users. */
export const ROOT = { name: 'root', password: 'of the benchmark' } as const;

export const clientOf = (endpoint: string): EtcdClient =>
  new EtcdClient({ endpoints: [endpoint], tls: undefined, user: ROOT });

/** What a store holds: equal stores have equal lines, under equal names. */
export type StoreDigest = ReadonlyMap<string, string>;

/** Reads everything that a client can read: keys at each of `revisions`, all events, leases, users, roles. */
export async function digestOf(endpoint: string, revisions: readonly number[]): Promise<StoreDigest> {
  using client = clientOf(endpoint);
  const source = new EtcdSource(client);
  const newest = await source.revision(never);
  const compacted = await compactRevision(client);
  const digest = new Map<string, string>([
    ['revision', `${newest}`],
    ['compact revision', `${compacted}`],
    ['events that are not compacted', await events(source, compacted + 1, newest)],
    ['leases, with their TTLs and keys', await leases(client, source)],
    ['users, roles and permissions', await users(client, source)],
  ]);
  for (const revision of [newest, ...revisions]) digest.set(`keys at ${revision}`, await keys(client, revision));
  return digest;
}

/** As a watch from the first revision on is told. 0: nothing is compacted. */
async function compactRevision(client: EtcdClient): Promise<number> {
  const begin = [pb.encodeWatchRequest({ createRequest: { key: ALL, rangeEnd: ALL, startRevision: 1 } })];
  const each = pb.encodeWatchRequest({ progressRequest: {} });
  const path = '/etcdserverpb.Watch/Watch';
  for await (const response of client.stream(path, { begin, each }, pb.decodeWatchResponse, never)) {
    if (response.canceled) return response.compactRevision;
    if (response.events.length > 0) break;
  }
  return 0;
}

async function keys(client: EtcdClient, revision: number): Promise<string> {
  const hash = createHash('sha256');
  let count = 0;
  for (let key = ALL; ; ) {
    const request = pb.encodeRangeRequest({ key, rangeEnd: ALL, revision, limit: PAGE });
    const { kvs, more } = await client.unary('/etcdserverpb.KV/Range', request, pb.decodeRangeResponse, never);
    for (const kv of kvs) hash.update(mvccpb.encodeKeyValue(kv));
    count += kvs.length;
    const last = kvs.at(-1);
    if (!more || last === undefined) return `${count} keys, ${hash.digest('hex')}`;
    key = Uint8Array.from([...last.key, 0]);
  }
}

async function events(source: EtcdSource, from: number, newest: number): Promise<string> {
  const hash = createHash('sha256');
  let count = 0;
  for await (const response of source.watch(from, never)) {
    for (const { type, kv } of response.events) {
      if (kv === undefined) throw new Error('an event without a key');
      hash.update(`${type}`).update(mvccpb.encodeKeyValue(kv));
      count += 1;
    }
    // The newest revision is one put.
    if (response.events.at(-1)?.kv?.modRevision === newest) break;
  }
  return `${count} events, ${hash.digest('hex')}`;
}

async function leases(client: EtcdClient, source: EtcdSource): Promise<string> {
  const ids = (await source.leases(never)).toSorted((left, right) => (left < right ? -1 : 1));
  const path = '/etcdserverpb.Lease/LeaseTimeToLive';
  const lines = await mapped(ids, async (ID) => {
    const request = pb.encodeLeaseTimeToLiveRequest({ ID, keys: true });
    const found = await client.unary(path, request, pb.decodeLeaseTimeToLiveResponse, never);
    const names = found.keys.map((key) => Buffer.from(key).toString('latin1')).toSorted();
    return `${ID} ${found.grantedTTL} ${found.TTL > 0} ${names.join()}`;
  });
  return summary('leases', lines);
}

async function users(client: EtcdClient, source: EtcdSource): Promise<string> {
  const { enabled, authRevision } = await source.auth(never);
  const call = <Response extends { readonly header: pb.ResponseHeader | undefined }>(
    name: string,
    request: Uint8Array,
    decode: (bytes: Uint8Array) => Response,
  ): Promise<Response> => client.unary(`/etcdserverpb.Auth/${name}`, request, decode, never);
  const names = (await call('UserList', pb.encodeAuthUserListRequest({}), pb.decodeAuthUserListResponse)).users;
  const roles = (await call('RoleList', pb.encodeAuthRoleListRequest({}), pb.decodeAuthRoleListResponse)).roles;
  const ofUsers = await mapped(names, async (name) => {
    const found = await call('UserGet', pb.encodeAuthUserGetRequest({ name }), pb.decodeAuthUserGetResponse);
    return `${name}: ${found.roles.join()}`;
  });
  const ofRoles = await mapped(roles, async (role) => {
    const { perm } = await call('RoleGet', pb.encodeAuthRoleGetRequest({ role }), pb.decodeAuthRoleGetResponse);
    const text = perm.map((each) => `${each.permType} ${Buffer.from(each.key)} ${Buffer.from(each.rangeEnd)}`);
    return `${role}: ${text.join()}`;
  });
  return `enabled ${enabled}, revision ${authRevision}, ${summary('users and roles', [...ofUsers, ...ofRoles])}`;
}

const summary = (what: string, lines: readonly string[]): string =>
  `${lines.length} ${what}, ${createHash('sha256').update(lines.join('\n')).digest('hex')}`;

/** In order, some at a time. */
async function mapped<From, To>(from: readonly From[], work: (each: From) => Promise<To>): Promise<readonly To[]> {
  const done: To[] = [];
  for (let at = 0; at < from.length; at += CALLS)
    done.push(...(await Promise.all(from.slice(at, at + CALLS).map(work))));
  return done;
}
