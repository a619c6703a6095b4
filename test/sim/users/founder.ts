import { EMPTY_BYTES, keyBytes, type KeyRange } from '@engram/core';
import type { Prng } from '@engram/sim';
import { keyAt } from '../plan/requests.ts';
import type { Clients } from '../world/clients.ts';
import type { Served } from '../world/served.ts';
import { certificateOf, ROLES, ROOT, USERS } from './credentials.ts';
import { UserStep, type Wanted, wanted } from './user-steps.ts';
import { isMade } from './users-model.ts';

export interface FounderOptions {
  readonly world: Clients;
  readonly random: Prng;
  readonly delay: (ms: number) => Promise<void>;
  /** A node that takes requests now. */
  readonly life: () => Served | undefined;
  readonly isOver: () => boolean;
}

/** Above the ids of all steps. */
const NUMBERS_FROM = 200_000;
const EVERYTHING: KeyRange = { key: Uint8Array.of(0), end: Uint8Array.of(0) };

/** Makes users and roles at the beginning of a run, one after another, and turns authentication on. Others change them meanwhile. */
export async function foundUsers({ world, random, delay, life, isOver }: FounderOptions): Promise<void> {
  const pauseMs = random.pick([0.1, 5, 50]);
  let number = NUMBERS_FROM;
  const asking = (at: Served) => {
    number += 1;
    const credential = certificateOf(ROOT);
    return { world, life: at, face: at.face!.as(credential), name: `#${number}`, credential };
  };
  for (const next of drawWanted(random, world.settings.keys)) {
    for (;;) {
      await delay(random.fraction() * pauseMs);
      if (isOver()) return;
      if (isMade(world.judge.access.users.newest, next.change)) break;
      const at = life();
      // The client waits for one answer after another, or for the end of its patience.
      if (at?.face === undefined || at.stopping || world.calls.underWay.some((what) => what.startsWith(`#${number} `)))
        continue;
      const from = asking(at);
      UserStep.of(from, number).change(next, from.credential);
    }
  }
  for (const user of [ROOT, ...USERS]) {
    await delay(random.fraction() * pauseMs);
    const at = life();
    if (isOver() || at?.face === undefined || at.stopping) continue;
    UserStep.of(asking(at), number).logIn(user, 'a');
  }
}

function* drawWanted(random: Prng, keys: number): Generator<Wanted> {
  yield wanted.addUser(ROOT, 'a');
  yield wanted.grantRole(ROOT, ROOT);
  for (const role of ROLES) {
    yield wanted.addRole(role);
    for (let left = random.between(1, 3); left > 0; left -= 1)
      yield wanted.permit(role, { type: random.pick([0, 1, 2, 2, 2]), range: drawRange(random, keys) });
  }
  for (const user of USERS) {
    yield wanted.addUser(user, 'a');
    yield wanted.grantRole(user, random.pick(ROLES));
    if (random.chance(0.4)) yield wanted.grantRole(user, random.pick(ROLES));
  }
  yield wanted.enable();
}

/** Wide enough that users may do something. */
function drawRange(random: Prng, keys: number): KeyRange {
  const kind = random.below(10);
  if (kind < 3) return EVERYTHING;
  const [one, other] = [keyAt(random.below(keys)), keyAt(random.below(keys))].sort();
  if (kind < 5) return { key: keyBytes(one!), end: Uint8Array.of(0) };
  return { key: keyBytes(one!), end: kind < 8 && one !== other ? keyBytes(other!) : EMPTY_BYTES };
}
