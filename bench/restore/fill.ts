import { EtcdClient } from '@engram/migration';
import { etcdserverpb as pb } from '@engram/wire';
import { runOne } from '../support/load.ts';
import type { Store } from '../support/store.ts';
import { ROOT } from './store-digest.ts';

export interface FillOptions {
  readonly keys: number;
  readonly value: number;
  /** Puts of keys that are there, half of them before a compaction. */
  readonly updates: number;
  readonly leases: number;
  readonly users: number;
}

const MAX_SECONDS = 3_600;
/** Calls that run at a time. */
const CALLS = 64;
/** So that none ends before the end of a run. */
const TTL_SECONDS = 86_400;
const KEYS_OF_A_LEASE = 2;
const never = new AbortController().signal;
const named = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Fills an etcd, and enables its users. Returns some revisions that can be read. */
export async function fill(store: Store, { keys, value, updates, leases, users }: FillOptions): Promise<number[]> {
  const load = async (...args: string[]): Promise<void> => {
    const { outcome } = await runOne(store, [`--keys=${keys}`, `--value=${value}`, ...args], {
      maxSeconds: MAX_SECONDS,
    });
    if (outcome.failures > 0) throw new Error(`${args.join(' ')}: ${outcome.firstError}`);
  };
  using client = new EtcdClient({ endpoints: [store.target], tls: undefined, user: undefined });
  const call = async <Response extends { readonly header: pb.ResponseHeader | undefined }>(
    path: string,
    request: Uint8Array,
    decode: (bytes: Uint8Array) => Response,
  ): Promise<number> => (await client.unary(`/etcdserverpb.${path}`, request, decode, never)).header?.revision ?? 0;
  const put = (key: string, lease = 0n): Promise<number> =>
    call('KV/Put', pb.encodePutRequest({ key: named(key), value: named(key), lease }), pb.decodePutResponse);
  const half = Math.ceil(updates / 2);

  await load('--op=fill');
  await load('--op=put', `--requests=${half}`);
  const compacted = await put('compacted');
  await call(
    'KV/Compact',
    pb.encodeCompactionRequest({ revision: compacted, physical: true }),
    pb.decodeCompactionResponse,
  );
  await load('--op=put', `--requests=${half}`);
  const readable = [compacted, await put('readable')];
  await each(leases, async (at) => {
    const ID = BigInt(at + 1);
    const request = pb.encodeLeaseGrantRequest({ ID, TTL: TTL_SECONDS + at });
    await call('Lease/LeaseGrant', request, pb.decodeLeaseGrantResponse);
    for (let key = 0; key < KEYS_OF_A_LEASE; key += 1) await put(`leased/${at}/${key}`, ID);
    const gone = pb.encodeDeleteRangeRequest({ key: named(`leased/${at}/0`) });
    if (at % 4 === 0) await call('KV/DeleteRange', gone, pb.decodeDeleteRangeResponse);
  });
  await each(users, async (at) => {
    const name = `user-${at}`;
    const role = `role-${at}`;
    const perm = { permType: at % 3, key: named(`/registry/${at}/`), rangeEnd: named(`/registry/${at}0`) };
    await call('Auth/RoleAdd', pb.encodeAuthRoleAddRequest({ name: role }), pb.decodeAuthRoleAddResponse);
    const grant = pb.encodeAuthRoleGrantPermissionRequest({ name: role, perm });
    await call('Auth/RoleGrantPermission', grant, pb.decodeAuthRoleGrantPermissionResponse);
    await call('Auth/UserAdd', pb.encodeAuthUserAddRequest({ name, password: name }), pb.decodeAuthUserAddResponse);
    const granted = pb.encodeAuthUserGrantRoleRequest({ user: name, role });
    await call('Auth/UserGrantRole', granted, pb.decodeAuthUserGrantRoleResponse);
  });
  await put('newest');
  await call('Auth/UserAdd', pb.encodeAuthUserAddRequest(ROOT), pb.decodeAuthUserAddResponse);
  const granted = pb.encodeAuthUserGrantRoleRequest({ user: ROOT.name, role: 'root' });
  await call('Auth/RoleAdd', pb.encodeAuthRoleAddRequest({ name: 'root' }), pb.decodeAuthRoleAddResponse);
  await call('Auth/UserGrantRole', granted, pb.decodeAuthUserGrantRoleResponse);
  await call('Auth/AuthEnable', pb.encodeAuthEnableRequest({}), pb.decodeAuthEnableResponse);
  return readable;
}

async function each(count: number, work: (at: number) => Promise<void>): Promise<void> {
  for (let from = 0; from < count; from += CALLS) {
    const some = Array.from({ length: Math.min(CALLS, count - from) }, (_, at) => work(from + at));
    await Promise.all(some);
  }
}
