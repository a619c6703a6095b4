import { ALARM_NOSPACE, type Caller, txnCost } from '@engram/backend';
import type { Txn } from '@engram/core';
import type { ServiceParts } from './service-parts.ts';

/**
 * Whether what it could put goes beyond the quota; if so the alarm is raised. The store asks the same of every write. It is
 * asked here only about a request that is wrong by itself, since etcd looks at the quota before it looks at the request
 * (server/etcdserver/api/v3rpc/quota.go).
 */
export async function raiseIfOverQuota({ store, cluster }: ServiceParts, txn: Txn, caller: Caller): Promise<boolean> {
  const costBytes = txnCost(txn);
  const { totalBytes, quotaBytes } = store.status();
  if (costBytes === 0 || quotaBytes <= 0 || totalBytes + costBytes < quotaBytes) return false;
  await store.activateAlarm({ memberId: cluster.memberId, alarm: ALARM_NOSPACE }, caller);
  return true;
}
