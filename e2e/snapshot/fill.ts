import type { Prng } from '@engram/sim';
import type { EtcdClient } from '../../test/support/etcd-client.ts';

const PAGE_BYTES = 4096;
const MIB = 1024 * 1024;
const KEYS = 1_500;
const LEASE_TTL_S = 3_600;
/**
 * The smallest and the largest id, one that uses all 64 bits, one whose keys move to another lease, and one that no
 * later write uses.
 */
const LEASES = [1n, 2n ** 63n - 1n, -5n, 77n, 99n] as const;
export const REVOCABLE_LEASE = 99n;
const LEASE_WITHOUT_KEYS = 88n;

export interface Filled {
  readonly compacted: number;
  /** Readable revisions, from the compaction to the newest. */
  readonly readable: readonly number[];
}

/** Fills the store with all kinds of data, in a random order, with a compaction in between. */
export async function fill(client: EtcdClient, prng: Prng): Promise<Filled> {
  for (const ID of [...LEASES, LEASE_WITHOUT_KEYS]) await client.leaseGrant({ ID, TTL: LEASE_TTL_S });
  await writeAll(client, prng);
  await oddKeys(client, prng);
  for (const lease of LEASES) {
    for (let key = 0; key < 20; key += 1) {
      await client.put({ key: named(`leased/${lease}/${key}`), value: value(prng, 100), lease });
    }
  }
  await churn(client, prng, 600);
  // A deletion exactly at the compaction's revision is a special case.
  await client.put({ key: named('deleted-at-compaction'), value: value(prng, 10) });
  const { header } = await client.deleteRange({ key: named('deleted-at-compaction') });
  const compacted = revisionOf(header);
  const middle = await churn(client, prng, 300);
  await client.compact({ revision: compacted, physical: true });
  const late = await churn(client, prng, 300);
  // The last keys of this lease move to another lease, so that it exists without keys.
  for (let key = 0; key < 20; key += 1) await client.put({ key: named(`leased/77/${key}`), lease: 1n });
  const last = await client.put({ key: named('last'), value: value(prng, 10) });
  return { compacted, readable: [compacted, compacted + 1, middle, late, revisionOf(last.header)] };
}

/** Makes random changes. Returns the revision after them. */
export async function churn(client: EtcdClient, prng: Prng, writes: number): Promise<number> {
  let revision = 0;
  for (let write = 0; write < writes; write += 1) {
    const key = named(`key/${prng.below(KEYS)}`);
    const kind = prng.below(10);
    let header: { readonly revision: number } | undefined;
    if (kind < 6) ({ header } = await client.put({ key, value: value(prng, size(prng)), lease: someLease(prng) }));
    else if (kind < 8) ({ header } = await client.deleteRange({ key }));
    else if (kind < 9) ({ header } = await client.txn({ success: [...new Set(someKeys(prng))].map(putOf(prng)) }));
    else ({ header } = await client.deleteRange({ key, rangeEnd: named(`${named(key)}~`) }));
    revision = revisionOf(header);
  }
  return revision;
}

async function writeAll(client: EtcdClient, prng: Prng): Promise<void> {
  const inFlight = 50;
  for (let from = 0; from < KEYS; from += inFlight) {
    const keys = Array.from({ length: inFlight }, (_, at) => named(`key/${from + at}`));
    await Promise.all(keys.map((key) => client.put({ key, value: value(prng, size(prng)) })));
  }
}

/** Keys, pages and bytes at their limits. */
async function oddKeys(client: EtcdClient, prng: Prng): Promise<void> {
  const keys = [
    Uint8Array.of(0),
    Uint8Array.of(0, 0),
    Uint8Array.of(0xff),
    Uint8Array.of(0xff, 0xff, 0),
    new Uint8Array(8_000).fill(0x61),
  ];
  for (const key of keys) await client.put({ key, value: value(prng, 50) });
  for (let bytes = PAGE_BYTES - 120; bytes < PAGE_BYTES + 20; bytes += 1) {
    await client.put({ key: named(`edge/${bytes}`), value: value(prng, bytes) });
  }
  for (const [name, bytes] of [
    ['large', MIB],
    ['larger', 1_450_000],
  ] as const) {
    await client.put({ key: named(name), value: value(prng, bytes) });
  }
}

const named = (name: string | Uint8Array): Buffer => Buffer.from(name);
const someLease = (prng: Prng): bigint => (prng.chance(0.1) ? LEASES[prng.below(3)]! : 0n);
const someKeys = (prng: Prng): string[] => Array.from({ length: 1 + prng.below(100) }, () => `key/${prng.below(KEYS)}`);
const putOf = (prng: Prng) => (key: string) => ({
  requestPut: { key: named(key), value: value(prng, size(prng) % 500), lease: someLease(prng) },
});

function size(prng: Prng): number {
  if (prng.chance(0.05)) return 3_500 + prng.below(6_000);
  return prng.chance(0.1) ? 0 : prng.below(600);
}

function value(prng: Prng, bytes: number): Buffer {
  const made = Buffer.alloc(bytes);
  for (let at = 0; at + 4 <= bytes; at += 4) made.writeUInt32LE(prng.uint32(), at);
  return made;
}

export function revisionOf(header: { readonly revision: number } | undefined): number {
  if (header === undefined) throw new Error('an answer without a header');
  return header.revision;
}
