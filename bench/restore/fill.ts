import { randomFillSync } from 'node:crypto';
import { EtcdClient } from '@engram/migration';
import { etcdserverpb as pb } from '@engram/wire';
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

/** Calls that run at a time. */
const CALLS = 16;
/** In a transaction: below what an etcd takes by default. */
const PUTS = 100;
/** Values are pieces of so many random bytes. */
const NOISE_BYTES = 8 << 20;
/** Spreads updates over the keys. */
const STRIDE = 7_919;
/** So that none ends before the end of a run. */
const TTL_SECONDS = 86_400;
const KEYS_OF_A_LEASE = 2;
const never = new AbortController().signal;
const named = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Fills an etcd, and enables its users. Returns some revisions that can be read. */
export async function fill(store: Store, { keys, value, updates, leases, users }: FillOptions): Promise<number[]> {
  using client = new EtcdClient({ endpoints: [store.target], tls: undefined, user: undefined });
  const call = async <Response extends { readonly header: pb.ResponseHeader | undefined }>(
    path: string,
    request: Uint8Array,
    decode: (bytes: Uint8Array) => Response,
  ): Promise<number> => (await client.unary(`/etcdserverpb.${path}`, request, decode, never)).header?.revision ?? 0;
  const put = (key: string, lease = 0n): Promise<number> =>
    call('KV/Put', pb.encodePutRequest({ key: named(key), value: named(key), lease }), pb.decodePutResponse);
  const half = Math.ceil(updates / 2);
  const noise = randomFillSync(Buffer.alloc(NOISE_BYTES));
  let written = 0;
  const putMany = (count: number, keyAt: (at: number) => number): Promise<void> =>
    each(Math.ceil(count / PUTS), async (txn) => {
      const success = Array.from({ length: Math.min(PUTS, count - txn * PUTS) }, (_, at) => {
        const from = (written * STRIDE) % (NOISE_BYTES - value);
        written += 1;
        const key = named(`/registry/bench/${`${keyAt(txn * PUTS + at)}`.padStart(12, '0')}`);
        return { requestPut: { key, value: noise.subarray(from, from + value) } };
      });
      await call('KV/Txn', pb.encodeTxnRequest({ success }), pb.decodeTxnResponse);
    });

  await putMany(keys, (at) => at);
  await putMany(half, (at) => (at * STRIDE) % keys);
  const compacted = await put('compacted');
  await call('KV/Compact', pb.encodeCompactionRequest({ revision: compacted }), pb.decodeCompactionResponse);
  await putMany(half, (at) => ((at + half) * STRIDE) % keys);
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
  return [compacted];
}

async function each(count: number, work: (at: number) => Promise<void>): Promise<void> {
  for (let from = 0; from < count; from += CALLS) {
    const some = Array.from({ length: Math.min(CALLS, count - from) }, (_, at) => work(from + at));
    await Promise.all(some);
  }
}
