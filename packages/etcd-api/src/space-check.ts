import { ALARM_NOSPACE, nodeItself, txnCost } from '@engram/backend';
import type { Txn } from '@engram/core';
import type { ServiceParts } from './service-parts.ts';

/**
 * Whether the transaction's puts would exceed the quota. If so, raises the alarm, unless a defragmentation makes room. The
 * store checks every write in the same way. This check is only for requests that are invalid by themselves, since etcd
 * checks the quota before the request (server/etcdserver/api/v3rpc/quota.go).
 */
export async function raiseIfOverQuota({ store, cluster }: ServiceParts, txn: Txn): Promise<boolean> {
  const costBytes = txnCost(txn);
  const exceeds = (): boolean => {
    const { totalBytes, quotaBytes } = store.status();
    return quotaBytes > 0 && totalBytes + costBytes >= quotaBytes;
  };
  if (costBytes === 0 || !exceeds()) return false;
  // While the alarm is raised, nothing is tried: only the operator ends it.
  if (store.alarms().every(({ alarm }) => alarm !== ALARM_NOSPACE)) {
    await store.defragment();
    if (!exceeds()) return false;
  }
  await store.activateAlarm({ memberId: cluster.memberId, alarm: ALARM_NOSPACE }, nodeItself);
  return true;
}
