import type { Op, PutOp, Txn } from '@engram/core';
import type { ServiceParts } from './service-parts.ts';

const NOSPACE = 1;
/** etcd server/storage/quota.go: what a put costs beside its bytes. */
const PUT_OVERHEAD_BYTES = 256;

export const putCost = (op: PutOp): number => PUT_OVERHEAD_BYTES + op.key.length + op.value.length;

/** The dearer of the two branches. */
export const txnCost = (txn: Txn): number => Math.max(branchCost(txn.success), branchCost(txn.failure));

function branchCost(ops: readonly Op[]): number {
  let bytes = 0;
  for (const op of ops) {
    if (op.kind === 'put') bytes += putCost(op);
    else if (op.kind === 'txn') bytes += txnCost(op.txn);
  }
  return bytes;
}

/**
 * Whether `costBytes` more go beyond the quota; if so the alarm is raised. The store asks the same of every write. It is
 * asked here only about a request that is wrong by itself, since etcd looks at the quota before it looks at the request
 * (server/etcdserver/api/v3rpc/quota.go).
 */
export async function raiseIfOverQuota({ store, member }: ServiceParts, costBytes: number): Promise<boolean> {
  const { totalBytes, quotaBytes } = store.status();
  if (costBytes === 0 || quotaBytes <= 0 || totalBytes + costBytes < quotaBytes) return false;
  await store.activateAlarm({ memberId: member.memberId, alarm: NOSPACE });
  return true;
}
