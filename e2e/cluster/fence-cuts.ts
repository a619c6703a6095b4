import { setTimeout as sleep } from 'node:timers/promises';
import { between, CLIENTS_HOST, type Rule, STORES_HOST, type Wire } from '../chaos/wire.ts';
import type { MemberProcess } from './cluster-member.ts';

const LOST = { lose: 1 };
/** When one way is whole again, the others follow so much later. */
const BETWEEN_HEALS_MS = 3000;

export interface CutsOptions {
  readonly wire: Wire;
  readonly members: readonly MemberProcess[];
  /** Resolves when the log was trimmed past what a silent member knows. */
  readonly awayUntilTrimmed: () => Promise<void>;
}

/**
 * How a leader whose clock and clients go on is cut off until the log is trimmed past what it knows. Writers at all members keep
 * appends under way, and readers at the leader find out whether it still answers.
 */
export function cuts({ wire, members, awayUntilTrimmed }: CutsOptions) {
  const othersOf = (victim: MemberProcess): readonly string[] =>
    members.filter((member) => member !== victim).map(({ place }) => place.name);

  /** Sets each list of rules until the log is trimmed, the first, or for a while, the others. */
  const through = async (first: readonly Rule[], ...then: readonly (readonly Rule[])[]): Promise<void> => {
    try {
      await wire.set(first);
      await awayUntilTrimmed();
      for (const rules of then) {
        await wire.set(rules);
        await sleep(BETWEEN_HEALS_MS);
      }
    } finally {
      await wire.set([]);
    }
  };

  const ways: Readonly<Record<string, (victim: MemberProcess) => Promise<void>>> = {
    'cut off from the members and from storage': (victim) =>
      through(between([victim.place.name], [...othersOf(victim), STORES_HOST], LOST)),
    'cut off from the members and from storage, which comes back first': (victim) => {
      const { name } = victim.place;
      const others = othersOf(victim);
      return through(between([name], [...others, STORES_HOST], LOST), between([name], others, LOST));
    },
    'cut off from the members, which come back first, and from storage': (victim) => {
      const { name } = victim.place;
      return through(between([name], [...othersOf(victim), STORES_HOST], LOST), between([name], [STORES_HOST], LOST));
    },
    'cut off from everybody': (victim) =>
      through(between([victim.place.name], [...othersOf(victim), STORES_HOST, CLIENTS_HOST], LOST)),
    // It goes on to say what it needs of the log, so it holds the log until it is left behind.
    'cut off from the members': (victim) => through(between([victim.place.name], othersOf(victim), LOST)),
    'cut off from storage': (victim) => through(between([victim.place.name], [STORES_HOST], LOST)),
    'heard by nobody': (victim) =>
      through([...othersOf(victim), STORES_HOST].map((to) => ({ from: victim.place.name, to, ...LOST }))),
    'without any answer': (victim) =>
      through([...othersOf(victim), STORES_HOST].map((from) => ({ from, to: victim.place.name, ...LOST }))),
  };
  return ways;
}
