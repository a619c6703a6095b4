import { keyBytes, leaseId, type LeaseId } from '@engram/core';
import { Lessor } from '@engram/lease';

// The limit: a keepalive is one Map lookup by a bigint. 100k of them a second must take a few percent of a core.
const full = process.env['BENCH'] !== 'smoke';
const leases = full ? 100_000 : 100;
const renewals = full ? 5_000_000 : 1_000;

function report(name: string, count: number, startNs: bigint, hash: number): void {
  const ns = Number(process.hrtime.bigint() - startNs);
  console.log(`${name}: ${count} in ${(ns / 1e6).toFixed(0)} ms, ${(ns / count).toFixed(0)} ns each (hash ${hash})`);
}

/** Ids as a store picks them: positive, 63 bits, spread by a fixed multiplier. */
const ids: LeaseId[] = Array.from({ length: leases }, (_, at) =>
  leaseId(BigInt.asUintN(63, BigInt(at + 1) * 0x9e3779b97f4a7c15n)),
);

const lessor = new Lessor({ minTtlSeconds: 2 });
let startNs = process.hrtime.bigint();
for (const [at, id] of ids.entries()) lessor.grant(id, 10 + (at % 50), 0);
report('grant', leases, startNs, lessor.size);

startNs = process.hrtime.bigint();
let hash = 0;
let nowMs = 0;
for (let round = 0; round < renewals; round += 1) {
  // 100k/s, with a check of the deadlines every 500 ms, as in an expiry loop.
  nowMs = Math.floor(round / 100);
  hash += lessor.renew(ids[(round * 7919) % leases]!, nowMs) ?? 0;
  if (round % 50_000 === 0) hash += lessor.expired(nowMs, 500).length;
}
report('renew', renewals, startNs, hash);

const keysPerLease = 1000;
const holders = ids.slice(0, leases / 100);
startNs = process.hrtime.bigint();
for (const [at, id] of holders.entries()) {
  for (let key = 0; key < keysPerLease; key += 1) lessor.attach(id, keyBytes(`/registry/events/ns-${at}/event-${key}`));
}
report('attach', holders.length * keysPerLease, startNs, lessor.get(holders[0]!)!.keyCount);

startNs = process.hrtime.bigint();
let gone = 0;
for (const id of holders) {
  gone += lessor.keys(id).length;
  lessor.revoke(id);
}
report('revoke, by key', gone, startNs, lessor.size);

startNs = process.hrtime.bigint();
let ended = 0;
for (let ids = lessor.expired(1e9, 500); ids.length > 0; ids = lessor.expired(1e9, 500)) ended += ids.length;
report('expire', ended, startNs, lessor.size);
