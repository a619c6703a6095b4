import type { Prng } from '@engram/sim';
import type { Judge } from './judge.ts';
import * as ask from './methods.ts';
import { RandomRequests } from './random-requests.ts';

/** Sends random requests on KV and Lease in sequence. Every answer, and so every revision, must be equal. */
export async function kvPart(judge: Judge, prng: Prng, steps: number): Promise<void> {
  const make = new RandomRequests(prng);
  for (let step = 0; step < steps; step += 1) {
    make.revision = judge.revision;
    await kvStep(judge, prng, make);
  }
  await everything(judge);
}

/** Compares all keys at the newest revision, the leases, and what compaction has left. */
export async function everything(judge: Judge): Promise<void> {
  await judge.call(ask.range, { key: '\0', rangeEnd: '\0' });
  await judge.call(ask.leaseLeases, {}, { settle: ask.leasesById });
  await hashKv(judge, 0n);
}

export async function kvStep(judge: Judge, prng: Prng, make: RandomRequests): Promise<void> {
  const dice = prng.below(100);
  if (dice < 30) await judge.call(ask.put, make.put());
  else if (dice < 50) await judge.call(ask.range, make.range());
  else if (dice < 57) await judge.call(ask.deleteRange, make.deleteRange());
  else if (dice < 80) await judge.call(ask.txn, make.txn());
  else if (dice < 82) await judge.compact(make.compact());
  else if (dice < 86) await judge.call(ask.rangeStream, make.rangeStream(), { settle: ask.merged });
  else if (dice < 91) await judge.call(ask.leaseGrant, { ID: make.leaseId(), TTL: BigInt(1_000 + prng.below(9_000)) });
  else if (dice < 93) await judge.call(ask.leaseRevoke, { ID: make.leaseId() });
  else if (dice < 94) await judge.call(ask.leaseLeases, {}, { settle: ask.leasesById });
  else if (dice < 97) {
    const settle = ask.remaining(judge.stores);
    await judge.call(ask.leaseTimeToLive, { ID: make.leaseId(), keys: prng.chance(0.7) }, { settle });
  } else if (dice < 99) await judge.call(ask.leaseKeepAlive, { ID: make.leaseId() });
  else await hashKv(judge, make.pastRevision());
}

/**
 * Hashes differ between the stores. For revisions that were compacted to, etcd keeps the earlier hash and answers with
 * it even after these revisions are compacted themselves (server/storage/mvcc/hash.go: HashByRev).
 */
async function hashKv(judge: Judge, revision: bigint): Promise<void> {
  if (judge.compactions.has(Number(revision))) return;
  await judge.call(ask.hashKv, { revision }, { ignore: ['hash'] });
}
