import type { Prng } from '@engram/sim';
import type { Judge } from './judge.ts';
import { everything, kvStep } from './kv-part.ts';
import * as ask from './methods.ts';
import { RandomRequests } from './random-requests.ts';

const ROUNDS = 4;

/** After SIGTERM and after SIGKILL both stores must have the same data, at every readable revision. */
export async function restartPart(judge: Judge, prng: Prng, steps: number): Promise<void> {
  const make = new RandomRequests(prng);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (let step = 0; step < steps / ROUNDS; step += 1) {
      make.revision = judge.revision;
      await kvStep(judge, prng, make);
    }
    if (round === 1) await judge.call(ask.alarm, { action: 1, memberID: 5n, alarm: 1 });
    if (round === 2) await judge.call(ask.alarm, { action: 2, memberID: 5n, alarm: 1 });
    if (prng.chance(0.5))
      await judge.compact({ revision: BigInt(judge.revision - prng.below(3)), physical: prng.chance(0.5) });
    // etcd loses its remembered hashes at a restart.
    judge.compactions.clear();
    await (round % 2 === 0 ? judge.stores.stop() : judge.stores.kill());
    await judge.stores.start();
    await everything(judge);
    await judge.call(ask.alarm, {});
    for (let back = 0; back < 30; back += 3) {
      await judge.call(ask.range, { key: '\0', rangeEnd: '\0', revision: BigInt(Math.max(1, judge.revision - back)) });
    }
    for (const ID of [1n, 7n, -1n])
      await judge.call(ask.leaseTimeToLive, { ID, keys: true }, { settle: ask.remaining(judge.stores) });
  }
}
