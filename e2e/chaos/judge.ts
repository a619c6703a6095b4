import { setTimeout as sleep } from 'node:timers/promises';
import { ALL_KEYS, EtcdClient } from '../../test/support/etcd-client.ts';
import type { Recorder } from '../../test/linearizability/record.ts';
import type { Load } from '../cluster/load.ts';
import type { LeaseHolder } from './lease-holder.ts';
import type { Seen, Witness } from './witness.ts';

export interface Evidence {
  readonly endpoints: readonly string[];
  readonly load: Load;
  readonly recorder: Recorder;
  readonly holders: readonly LeaseHolder[];
  readonly witnesses: readonly Witness[];
  /** The events that the first witness saw. */
  readonly seen: readonly Seen[];
}

/**
 * The time by which an abandoned lease must have ended: its life, what a change of leader adds, and a margin for a slow
 * machine.
 */
const EXPIRY_MAX_MS = 40_000;
const CATCH_UP_MAX_MS = 30_000;
/** Tolerates the difference between two processes' clocks and the delay of an event. */
const EARLY_MS = 50;

/** Checks everything that must hold when all faults are healed and clients are silent. Returns the violations. */
export async function judge(evidence: Evidence): Promise<readonly string[]> {
  const problems = await leasesEnd(evidence);
  problems.push(...(await watchersSawAll(evidence)));
  problems.push(...historyIsWhole(evidence));
  problems.push(...leasesNotEarly(evidence));
  problems.push(...(await copiesAreEqual(evidence)));
  for (const key of evidence.recorder.violations()) {
    problems.push(`no order explains what was seen of ${key}:\n${evidence.recorder.describe(key)}`);
  }
  return problems;
}

async function leasesEnd({ endpoints }: Evidence): Promise<string[]> {
  using client = new EtcdClient(endpoints[0]!);
  let left = 0;
  for (const endMs = performance.now() + EXPIRY_MAX_MS; performance.now() < endMs; await sleep(200)) {
    left = (await client.leaseLeases()).leases.length;
    if (left === 0) return [];
  }
  return [`${left} leases have not ended`];
}

async function watchersSawAll({ endpoints, witnesses }: Evidence): Promise<string[]> {
  using client = new EtcdClient(endpoints[0]!);
  const { header } = await client.range({ ...ALL_KEYS, countOnly: true });
  const last = Number(header?.revision ?? 0);
  const endMs = performance.now() + CATCH_UP_MAX_MS;
  while (performance.now() < endMs && witnesses.some((witness) => witness.last < last)) await sleep(50);
  const problems: string[] = [];
  const checksum = witnesses[0]!.checksums[last];
  for (const witness of witnesses) {
    for (const violation of witness.violations) problems.push(`the watcher ${witness.name}: ${violation}`);
    if (witness.last !== last) problems.push(`the watcher ${witness.name} is at ${witness.last} of ${last}`);
    else if (witness.checksums[last] !== checksum) problems.push(`the watcher ${witness.name} saw something else`);
  }
  return problems;
}

/** Every acknowledged write is at its revision, and each write of the load happened at most once. */
function historyIsWhole({ load, seen }: Evidence): string[] {
  const problems: string[] = [];
  const byKey = new Map<string, Seen>();
  for (const event of seen) {
    if (!event.key.startsWith('load/')) continue;
    if (byKey.has(event.key)) problems.push(`${event.key} was written twice`);
    byKey.set(event.key, event);
  }
  for (const { key, value, revision } of load.acknowledged) {
    const event = byKey.get(key);
    if (event?.revision !== revision || event.value !== value) problems.push(`${key} at ${revision} is lost or moved`);
  }
  return problems;
}

/** A key ends with its lease: not before the time last promised to its holder, unless the holder has revoked it. */
function leasesNotEarly({ holders, seen }: Evidence): string[] {
  const problems: string[] = [];
  const leases = new Map(holders.flatMap((holder) => [...holder.leases]));
  const there = new Set<string>();
  for (const { key, deleted, atMs } of seen) {
    const lease = leases.get(key);
    if (lease === undefined) continue;
    if (!deleted) there.add(key);
    else {
      there.delete(key);
      const earlyMs = lease.notBeforeMs - atMs;
      if (!lease.revoked && earlyMs > EARLY_MS) problems.push(`${key} expired ${Math.round(earlyMs)} ms early`);
    }
  }
  for (const key of there) problems.push(`${key} outlives its lease`);
  return problems;
}

/** Violations where members at these endpoints differ in what they hold. */
export async function copiesAreEqual({ endpoints }: Pick<Evidence, 'endpoints'>): Promise<string[]> {
  const hashes = new Set<string>();
  for (const endpoint of endpoints) {
    using client = new EtcdClient(endpoint);
    const { header } = await client.range({ ...ALL_KEYS, countOnly: true });
    const { hash, compactRevision } = await client.hashKv({ revision: Number(header?.revision ?? 0) });
    hashes.add(`${hash} from ${compactRevision} to ${header?.revision}`);
  }
  return hashes.size === 1 ? [] : [`hashes differ: ${[...hashes].join('; ')}`];
}
