import {
  type Compare,
  EMPTY_BYTES,
  keyBytes,
  type KeyRange,
  leaseId,
  type Op,
  type PutOp,
  type RangeOp,
  type Txn,
} from '@engram/core';
import type { Prng } from '@engram/sim';

/** Few keys, so that operations meet on them. Some are prefixes of each other, and some have the bytes 0x00 and 0xff. */
const alphabet = ['a', 'b', '\x00', '\xff'];
function randomKey(prng: Prng): string {
  let key = prng.pick(['k', 'a', '\xff']);
  for (let more = prng.below(3); more > 0; more -= 1) key += prng.pick(alphabet);
  return key;
}

function randomRange(prng: Prng): KeyRange {
  const key = keyBytes(prng.chance(0.1) ? '\x00' : randomKey(prng));
  const kind = prng.below(10);
  if (kind < 5) return { key, end: EMPTY_BYTES };
  if (kind < 7) return { key, end: Uint8Array.of(0) };
  return { key, end: keyBytes(randomKey(prng)) };
}

export function randomRangeOp(prng: Prng, revision: number, plainOnly: boolean): RangeOp {
  const bound = (): number => (prng.chance(0.85) ? 0 : prng.below(revision + 2));
  const plain = plainOnly || prng.chance(0.6);
  return {
    kind: 'range',
    range: randomRange(prng),
    limit: prng.chance(0.6) ? 0 : prng.below(6) - 1,
    revision: prng.chance(0.6) ? 0 : prng.below(revision + 3) - 1,
    sortOrder: plain ? 0 : prng.below(3),
    sortTarget: plain ? 0 : prng.below(5),
    serializable: prng.chance(0.2),
    keysOnly: prng.chance(0.2),
    countOnly: prng.chance(0.1),
    minModRevision: plain ? 0 : bound(),
    maxModRevision: plain ? 0 : bound(),
    minCreateRevision: plain ? 0 : bound(),
    maxCreateRevision: plain ? 0 : bound(),
  };
}

function randomPut(prng: Prng, key: string): PutOp {
  const ignoreValue = prng.chance(0.1);
  const ignoreLease = prng.chance(0.1);
  return {
    kind: 'put',
    key: keyBytes(key),
    value: ignoreValue || prng.chance(0.1) ? EMPTY_BYTES : keyBytes(`v${prng.below(20)}${'x'.repeat(prng.below(40))}`),
    lease: leaseId(ignoreLease || prng.chance(0.6) ? 0n : BigInt(prng.below(6))),
    prevKv: prng.chance(0.4),
    ignoreValue,
    ignoreLease,
  };
}

function randomCompare(prng: Prng, revision: number): Compare {
  return {
    range: randomRange(prng),
    result: prng.below(5),
    target: prng.below(6),
    number: prng.chance(0.5) ? 0 : prng.below(revision + 2),
    lease: leaseId(BigInt(prng.below(4))),
    value: keyBytes(`v${prng.below(20)}`),
  };
}

/** Callers must have checked that a branch changes a key at most once. So each op gets keys of its own. */
export function randomTxn(prng: Prng, revision: number, depth = 0, used: Set<string> = new Set()): Txn {
  const branch = (): Op[] => {
    const mine = new Set(used);
    const ops: Op[] = [];
    for (let count = prng.below(depth === 0 ? 5 : 3); count > 0; count -= 1) {
      const kind = prng.below(10);
      const key = randomKey(prng);
      if (kind < 4) {
        if (mine.has(key)) continue;
        mine.add(key);
        ops.push(randomPut(prng, key));
      } else if (kind < 6) {
        if (mine.has(key)) continue;
        mine.add(key);
        ops.push({ kind: 'delete-range', range: { key: keyBytes(key), end: EMPTY_BYTES }, prevKv: prng.chance(0.5) });
      } else if (kind < 9 || depth === 2) {
        ops.push(randomRangeOp(prng, revision, prng.chance(0.5)));
      } else {
        const txn = randomTxn(prng, revision, depth + 1, mine);
        collectKeys(txn, mine);
        ops.push({ kind: 'txn', txn });
      }
    }
    return ops;
  };
  const compares = Array.from({ length: prng.below(3) }, () => randomCompare(prng, revision));
  return { compares, success: branch(), failure: branch() };
}

function collectKeys(txn: Txn, into: Set<string>): void {
  for (const op of [...txn.success, ...txn.failure]) {
    if (op.kind === 'put') into.add(Buffer.from(op.key).toString('latin1'));
    else if (op.kind === 'delete-range') into.add(Buffer.from(op.range.key).toString('latin1'));
    else if (op.kind === 'txn') collectKeys(op.txn, into);
  }
}

/** A delete of a whole range, alone in its transaction: with a put in the range it would be refused. */
export function randomDeleteRange(prng: Prng): Txn {
  return {
    compares: [],
    success: [{ kind: 'delete-range', range: randomRange(prng), prevKv: prng.chance(0.5) }],
    failure: [],
  };
}

export function randomPutTxn(prng: Prng): Txn {
  return { compares: [], success: [randomPut(prng, randomKey(prng))], failure: [] };
}
