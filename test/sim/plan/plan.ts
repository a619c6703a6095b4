import { Prng } from '@engram/sim';
import {
  isUserScenario,
  type UserKind,
  type UserScenarioKind,
  userScenarioWeights,
  userWeights,
} from '../users/user-weights.ts';
import { drawSettings, plainSettings, type Settings, withPlain } from './settings.ts';

/** Weights of the clients' requests. */
export const requestWeights = {
  put: 20,
  delete: 8,
  'delete-range': 2,
  txn: 18,
  range: 14,
  'range-stream': 3,
  compact: 4,
  'compact-physical': 2,
  'lease-grant': 4,
  'lease-revoke': 3,
  'keep-alive': 4,
  'lease-ttl': 4,
  leases: 2,
  'alarm-on': 0.5,
  'alarm-off': 1,
  alarms: 1,
  hash: 2,
  image: 2,
  defragment: 1,
  watch: 5,
  'cancel-watch': 1,
  'watch-progress': 2,
  'slow-watch': 2,
} as const;

/** Weights of the faults. */
const faultWeights = {
  crash: 1,
  'power-loss': 1.5,
  'crash-twice': 1,
  'disk-fault': 0.7,
  stop: 0.7,
  pause: 0.7,
  stall: 2,
  'append-fault': 0.7,
  'read-fault': 0.7,
  'wall-jump': 0.3,
  'step-down': 1,
  rival: 0.3,
} as const;

/** Weights of the scenarios: several requests in an order that rarely occurs by chance. */
const scenarioWeights = {
  'late-reads': 2,
  'late-append': 1,
  'moving-keys': 1,
  'old-reads': 1,
  'stop-deposed': 0.5,
  'step-down-in-long-write': 0.5,
  'grant-behind-end': 0.5,
} as const;

export type RequestKind = keyof typeof requestWeights;
export type FaultKind = keyof typeof faultWeights;
export type ScenarioKind = keyof typeof scenarioWeights | UserScenarioKind;
export type StepKind = RequestKind | UserKind | FaultKind | ScenarioKind;

/**
 * One request, fault or scenario. Its details are drawn from its own seed and depend on the state of the run at that
 * time. So a step does much the same with or without the other steps.
 */
export interface Step<Kind extends string = StepKind> {
  /** The index in the complete plan, which does not change when the plan is shortened. */
  readonly id: number;
  readonly atMs: number;
  readonly kind: Kind;
  readonly seed: number;
}

/** The plan of a run. It is drawn from the seed, and equal seeds give equal plans. */
export interface Plan {
  readonly seed: number;
  readonly settings: Settings;
  readonly steps: readonly Step[];
}

/** The part of a plan that is left after it was shortened. */
export interface Cut {
  /** Ids of the steps. Undefined means all. */
  readonly keep?: readonly number[];
  /** Names of settings that have their production values. */
  readonly plain?: readonly string[];
  /** If given, all scenarios are of this kind, and they come often. */
  readonly scenario?: string;
}

export const isFault = (kind: StepKind): kind is FaultKind => kind in faultWeights;
export const isScenario = (kind: StepKind): kind is ScenarioKind => kind in scenarioWeights || isUserScenario(kind);

const STEPS_MIN = 60;
const STEPS_MAX = 360;
const STEPS_OF_A_PHASE_MAX = 60;

export function makePlan(seed: number, cut: Cut = {}): Plan {
  const random = new Prng(seed).fork('plan');
  const drawn = withUsersFor(cut.scenario, drawSettings(random), random);
  const settings = withPlain(drawn, plainSettings, cut.plain);
  const kept = cut.keep === undefined ? undefined : new Set(cut.keep);
  const steps = drawSteps(random, settings.users !== 'none', cut.scenario).filter(
    ({ id }) => kept === undefined || kept.has(id),
  );
  return { seed, settings, steps };
}

/** Draws the steps. Some kinds are left out, others come often. */
function drawSteps(random: Prng, withUsers: boolean, scenario: string | undefined): Step[] {
  const requests = drawWeights(random, withUsers ? { ...requestWeights, ...userWeights } : requestWeights, 0.2);
  const faults = drawWeights(random, faultWeights, 0.4);
  const faultShare = random.pick([0, 0.01, 0.03, 0.08]);
  const all = { ...scenarioWeights, ...userScenarioWeights };
  const { scenarios, scenarioShare } = onlyScenario<ScenarioKind>(scenario, all, {
    scenarios: drawWeights(random, withUsers ? all : scenarioWeights, 0.2),
    scenarioShare: random.pick([0, 0.01, 0.03]),
  });
  return drawPhases(random, random.between(STEPS_MIN, STEPS_MAX), () => {
    if (random.chance(scenarioShare)) return scenarios(random);
    return random.chance(faultShare) ? faults(random) : requests(random);
  });
}

export interface DrawnScenarios<Kind> {
  readonly scenarios: (random: Prng) => Kind;
  readonly scenarioShare: number;
}

/** The share of scenarios in the steps, if all scenarios are of one kind. */
const ONLY_SHARE = 0.08;

/** The settings, with users where the only scenario needs some. */
export function withUsersFor<Of extends Settings>(scenario: string | undefined, settings: Of, random: Prng): Of {
  if (scenario === undefined || !isUserScenario(scenario) || settings.users !== 'none') return settings;
  return { ...settings, users: random.fork(scenario).pick(['simple', 'jwt'] as const) };
}

/** Scenarios of the named kind only, or `drawn` if no kind is named. Throws for an unknown kind. */
export function onlyScenario<Kind extends string>(
  name: string | undefined,
  weights: Readonly<Record<Kind, number>>,
  drawn: DrawnScenarios<Kind>,
): DrawnScenarios<Kind> {
  if (name === undefined) return drawn;
  const isKind = (text: string): text is Kind => Object.hasOwn(weights, text);
  if (!isKind(name)) throw new Error(`SCENARIO is one of ${Object.keys(weights).join(', ')}, and not ${name}`);
  return { scenarios: () => name, scenarioShare: ONLY_SHARE };
}

/** Average times between two steps. */
const GAPS_MS = [0, 0, 0.05, 0.5, 0.5, 5, 50, 500];

/** Draws `count` steps in phases with one average gap each. The kind of each step is drawn in its turn. */
export function drawPhases<Kind extends string>(
  random: Prng,
  count: number,
  kindOf: () => Kind,
  gapsMs: readonly number[] = GAPS_MS,
): Step<Kind>[] {
  const steps: Step<Kind>[] = [];
  let atMs = 0;
  while (steps.length < count) {
    const gapMs = random.pick(gapsMs);
    for (let left = random.between(1, STEPS_OF_A_PHASE_MAX); left > 0 && steps.length < count; left -= 1) {
      atMs += gapMs * 2 * random.fraction();
      const kind = kindOf();
      steps.push({ id: steps.length, atMs, kind, seed: random.uint32() });
    }
    if (random.chance(0.15)) atMs += random.between(500, 8000);
  }
  return steps;
}

/**
 * Returns a function that draws kinds. Some kinds never come and some come three times as often, so that runs differ.
 */
export function drawWeights<Kind extends string>(
  random: Prng,
  weights: Readonly<Record<Kind, number>>,
  absent: number,
): (random: Prng) => Kind {
  const kinds = Object.keys(weights) as Kind[];
  const chosen = kinds.map((kind) => weights[kind] * (random.chance(absent) ? 0 : random.pick([1, 1, 3])));
  const first = random.below(kinds.length);
  const sum = chosen.reduce((total, weight) => total + weight, 0);
  return (source) => {
    let left = source.fraction() * sum;
    for (const [at, weight] of chosen.entries()) {
      if (left < weight) return kinds[at]!;
      left -= weight;
    }
    return kinds[first]!;
  };
}
