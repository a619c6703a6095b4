import { setTimeout as sleep } from 'node:timers/promises';
import type { Prng } from '@engram/sim';
import { Recorder } from '../../test/linearizability/record.ts';
import { Load, spread } from '../cluster/load.ts';
import { stillHeld } from '../support/nothing-held.ts';
import { RecordedClients } from './clients.ts';
import { judge } from './judge.ts';
import { LeaseHolder } from './lease-holder.ts';
import { type Seen, Witness } from './witness.ts';

/** What faults know of the clients. */
export interface ClientsSeen {
  /** The number of writes acknowledged so far. */
  readonly acknowledged: () => number;
  /** Starts clients that only read at `endpoint`, linearizably, the keys that the other clients write. */
  readonly readAt: (endpoint: string) => RecordedClients;
}

/** Begins a fault. The returned function ends it. */
export type Fault<Scene> = (scene: Scene) => Promise<() => Promise<void>>;

export interface CampaignOptions<Scene> {
  readonly prng: Prng;
  /** One of each member, host:port. */
  readonly endpoints: readonly string[];
  readonly faults: Readonly<Record<string, Fault<Scene>>>;
  /** What the faults act on. */
  readonly scene: (clients: ClientsSeen) => Scene;
  /** The names of the faults that are injected. */
  readonly chosen: readonly string[];
  /** How long faults are injected, unless there are `rounds`: each fault so often, each until writes continue. */
  readonly seconds: number;
  readonly rounds?: number | undefined;
  /** Whether the faults come in the order of `chosen`, and not in one that `prng` decides. */
  readonly inOrder?: boolean;
  /** Checks that are not the clients', when all faults are healed. Returns the violations. */
  readonly alsoJudge?: () => Promise<readonly string[]>;
}

export interface Outcome {
  /** Nothing if all that must hold has held. */
  readonly problems: readonly string[];
  /** Prints, by kind of fault, how long no write was acknowledged, and what was judged. */
  readonly print: () => void;
}

/** The longest time without progress after a fault has ended. */
const RECOVERY_MAX_MS = 30_000;
const WRITES_AFTER = 100;
/** How long so many writes may take where each comes in time: few come in a second on a very busy machine. */
const WRITES_AFTER_MAX_MS = 180_000;
const WRITES_BEFORE = 200;
/** The number of readers at a fault's victim. */
const READERS = 4;

/**
 * One fault after another, in an order that `prng` decides, while clients at all of them write, read,
 * watch and hold leases; then the judgement of what they saw. README.md says what must hold.
 */
export async function campaign<Scene>(options: CampaignOptions<Scene>): Promise<Outcome> {
  const { prng, endpoints, chosen, rounds } = options;
  const seen: Seen[] = [];
  const witnesses = [
    new Witness('anywhere', endpoints, (event) => seen.push(event)),
    ...endpoints.map((endpoint) => new Witness(`at ${endpoint}`, [endpoint])),
  ];
  const load = new Load(endpoints, 2, { deadlineMs: 3000, betweenMs: 5 });
  const recorder = new Recorder(prng);
  const recorded = new RecordedClients(recorder, [...endpoints, ...endpoints]);
  const holders = endpoints.flatMap((_, at) => [
    new LeaseHolder(`${at}a`, endpoints, prng),
    new LeaseHolder(`${at}b`, endpoints, prng),
  ]);
  await load.until(WRITES_BEFORE);

  const scene = options.scene({
    acknowledged: () => load.acknowledged.length,
    readAt: (endpoint) => {
      const readers = Array.from({ length: READERS }, () => endpoint);
      return new RecordedClients(recorder, readers, 'get');
    },
  });
  const stallsMs = new Map<string, number[]>();
  const problems: string[] = [];
  const endMs = performance.now() + options.seconds * 1000;
  let queue: string[] = [];

  /** Waits for `more` acknowledged writes. False if none comes for RECOVERY_MAX_MS, or not all within WRITES_AFTER_MAX_MS. */
  async function acknowledges(more: number): Promise<boolean> {
    const enough = load.acknowledged.length + more;
    const endMs = performance.now() + WRITES_AFTER_MAX_MS;
    let [seen, lateMs] = [load.acknowledged.length, performance.now() + RECOVERY_MAX_MS];
    for (; load.acknowledged.length < enough; await sleep(10)) {
      if (performance.now() > Math.min(lateMs, endMs)) return false;
      if (load.acknowledged.length === seen) continue;
      [seen, lateMs] = [load.acknowledged.length, performance.now() + RECOVERY_MAX_MS];
    }
    return true;
  }

  for (let round = 0; problems.length === 0; ) {
    if (rounds === undefined && performance.now() >= endMs) break;
    if (queue.length === 0) {
      if (round === rounds) break;
      // Each fault once, in a new order, before any is repeated.
      queue = options.inOrder === true ? [...chosen] : chosen.toSorted(() => prng.fraction() - 0.5);
      round += 1;
    }
    const name = queue.shift()!;
    const fault = options.faults[name];
    if (fault === undefined) throw new Error(`there is no fault "${name}"`);
    const startMs = performance.now();
    try {
      const end = await fault(scene);
      if (rounds === undefined) await sleep(1000 + prng.below(4000));
      else if (!(await acknowledges(WRITES_AFTER))) problems.push(`${name}: no writes for ${RECOVERY_MAX_MS} ms`);
      await end();
    } catch (error) {
      problems.push(`${name}: ${error instanceof Error ? error.stack : String(error)}`);
    }
    const healedMs = performance.now();
    if (!(await acknowledges(WRITES_AFTER))) problems.push(`${name}: no writes for ${RECOVERY_MAX_MS} ms after it`);
    const stallMs = Math.round(load.longestPauseMs(startMs, performance.now() - startMs));
    stallsMs.set(name, [...(stallsMs.get(name) ?? []), stallMs]);
    console.log(
      `${name}: ${stallMs} ms without an acknowledged write, healed after ${Math.round(healedMs - startMs)} ms`,
    );
  }

  if (stallsMs.size === 0) problems.push('no fault was injected');

  await Promise.all([load.stop(), recorded.stop(), ...holders.map((holder) => holder.stop())]);
  try {
    problems.push(...(await judge({ endpoints, load, recorder, holders, witnesses, seen })));
    for (const witness of witnesses) await witness.stop();
    for (const endpoint of endpoints) {
      for (const held of await stillHeld(endpoint))
        problems.push(`${endpoint} holds for calls that have ended: ${held}`);
    }
    problems.push(...((await options.alsoJudge?.()) ?? []));
  } catch (error) {
    // What was found before, which may be why, is told with it.
    problems.push(`the judgement was not made: ${error instanceof Error ? error.stack : String(error)}`);
  }
  const print = (): void => {
    for (const [name, stalls] of stallsMs) console.log(`without an acknowledged write, ${name}: ${spread(stalls)}`);
    const left = chosen.filter((name) => !stallsMs.has(name));
    if (left.length > 0) console.log(`there was no time for: ${left.join(', ')}`);
    console.log(
      `${load.acknowledged.length} writes acknowledged, ${load.uncertain} without an answer, ${recorder.calls} calls checked, ` +
        `${holders.reduce((sum, { leases }) => sum + leases.size, 0)} leases, ${seen.length} events, ` +
        `${witnesses.reduce((sum, { breaks }) => sum + breaks, 0)} watches resumed`,
    );
  };
  return { problems, print };
}
