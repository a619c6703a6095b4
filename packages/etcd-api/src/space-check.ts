import { ALARM_NOSPACE, type Caller, txnCost } from '@engram/backend';
import type { Txn } from '@engram/core';
import type { ServiceParts } from './service-parts.ts';

/**
 * Whether the transaction's puts would exceed the quota. If so, raises the alarm. The store checks every write in the
 * same way. This check is only for requests that are invalid by themselves, since etcd checks the quota before the
 * request (server/etcdserver/api/v3rpc/quota.go).
 */
export async function raiseIfOverQuota({ store, cluster }: ServiceParts, txn: Txn, caller: Caller): Promise<boolean> {
  const costBytes = txnCost(txn);
  const { totalBytes, quotaBytes } = store.status();
  if (costBytes === 0 || quotaBytes <= 0 || totalBytes + costBytes < quotaBytes) return false;
  await store.activateAlarm({ memberId: cluster.memberId, alarm: ALARM_NOSPACE }, caller);
  return true;
}
