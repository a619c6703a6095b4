import type { Prng } from '@engram/sim';
import type { Judge } from './judge.ts';
import type { Fields } from './messages.ts';
import * as ask from './methods.ts';

const KEYS = 10_000;
const KEYS_EACH_TXN = 100;
/** The requests delete some thirty keys each. */
const STEPS_EACH_FILL = 200;
const LEASE = 77n;
/** A leader that takes over gives the lease its whole time again. */
const leaseKeys = ({ stores }: Judge) => ({ ignore: ['TTL'], settle: ask.remaining(stores) });
/** Around the sizes at which answers are cut, paged, or made in slices. */
const LIMITS = [0, 1, 64, 256, 1_024, 4_096, 8_192, KEYS].flatMap((near) => [near - 1, near, near + 1]);

const keyOf = (at: number): string => `k${String(at).padStart(6, '0')}`;

/** A store of more keys than one answer, one slice or one page of anything holds. */
export async function largePart(judge: Judge, prng: Prng, steps: number): Promise<void> {
  for (let left = steps; left > 0; left -= STEPS_EACH_FILL) await filled(judge, prng, Math.min(left, STEPS_EACH_FILL));
}

async function filled(judge: Judge, prng: Prng, steps: number): Promise<void> {
  await judge.call(ask.leaseGrant, { ID: LEASE, TTL: 100_000n });
  const lengths = [0, 1, 20, 100, 300];
  for (let at = 0; at < KEYS; at += KEYS_EACH_TXN) {
    const success = Array.from({ length: KEYS_EACH_TXN }, (_, more) => ({
      requestPut: {
        key: keyOf(at + more),
        value: 'v'.repeat(prng.pick(lengths)),
        lease: (at + more) % 3 === 0 ? LEASE : undefined,
      },
    }));
    await judge.call(ask.txn, { success });
  }
  for (let step = 0; step < steps; step += 1) await largeStep(judge, prng);
  await judge.call(ask.leaseTimeToLive, { ID: LEASE, keys: true }, leaseKeys(judge));
  await judge.call(ask.leaseRevoke, { ID: LEASE });
  await judge.call(ask.range, { key: 'k', rangeEnd: 'l' });
}

async function largeStep(judge: Judge, prng: Prng): Promise<void> {
  const dice = prng.below(100);
  if (dice < 35) await judge.call(ask.range, wideRange(judge, prng));
  else if (dice < 45) await judge.call(ask.rangeStream, plain(wideRange(judge, prng)), { settle: ask.merged });
  else if (dice < 75) await judge.call(ask.txn, wideTxn(judge, prng));
  else if (dice < 82) await judge.call(ask.deleteRange, { ...span(prng, 300), prevKv: prng.chance(0.5) || undefined });
  else if (dice < 86) await judge.call(ask.leaseTimeToLive, { ID: LEASE, keys: true }, leaseKeys(judge));
  else if (dice < 89) await judge.compact({ revision: BigInt(judge.revision - prng.below(100)) });
  else await judge.call(ask.put, { key: keyOf(prng.below(KEYS)), value: 'new', prevKv: prng.chance(0.5) || undefined });
}

/** A range of some keys, mostly of very many. */
function span(prng: Prng, most: number): Fields {
  const from = prng.below(KEYS);
  return { key: keyOf(from), rangeEnd: keyOf(from + prng.below(most)) };
}

function wideRange(judge: Judge, prng: Prng): Fields {
  const whole = prng.chance(0.5);
  const sorted = prng.chance(0.3);
  const near = (): bigint => BigInt(Math.max(0, judge.revision - prng.below(150)));
  return {
    ...(whole ? { key: 'k', rangeEnd: prng.chance(0.5) ? 'l' : '\0' } : span(prng, KEYS)),
    limit: prng.chance(0.5) ? BigInt(prng.pick(LIMITS)) : undefined,
    revision: prng.chance(0.3) ? near() : undefined,
    sortOrder: sorted ? prng.below(3) : undefined,
    // Values and versions are equal too often: the stores order such keys differently.
    sortTarget: sorted ? prng.pick([0, 0, 3]) : undefined,
    keysOnly: prng.chance(0.2) || undefined,
    countOnly: prng.chance(0.1) || undefined,
    minModRevision: prng.chance(0.15) ? near() : undefined,
    maxCreateRevision: prng.chance(0.15) ? near() : undefined,
  };
}

const plain = ({ sortOrder: _order, sortTarget: _target, ...range }: Fields): Fields => range;

/** Puts, deletes of many keys and ranges of very many, in any order. Deletes may overlap. */
function wideTxn(judge: Judge, prng: Prng): Fields {
  let puts = 0;
  const op = (nests: boolean): Fields => {
    const dice = prng.below(10);
    if (dice < 3) {
      puts += 1;
      // Behind all keys that are deleted here.
      return { requestPut: { key: `kz${puts}`, value: 'new', prevKv: true } };
    }
    if (dice < 6) return { requestDeleteRange: { ...span(prng, 200), prevKv: prng.chance(0.7) || undefined } };
    if (dice < 7 && nests) return { requestTxn: { success: [op(false), op(false)] } };
    return { requestRange: { ...wideRange(judge, prng), revision: undefined } };
  };
  const ops = (): Fields[] => Array.from({ length: 1 + prng.below(4) }, () => op(true));
  const exists = { key: keyOf(prng.below(KEYS)), target: 0, result: 1, version: 0n };
  return { compare: [exists], success: ops(), failure: ops() };
}
