import { Prng } from '@engram/sim';
import {
  type Cut,
  drawPhases,
  drawWeights,
  onlyScenario,
  type RequestKind,
  requestWeights,
  type Step,
  withUsersFor,
} from '../plan/plan.ts';
import { withPlain } from '../plan/settings.ts';
import {
  isUserScenario,
  type UserKind,
  type UserScenarioKind,
  userScenarioWeights,
  userWeights,
} from '../users/user-weights.ts';
import { type LieKind, lieWeights } from './liar.ts';
import { type ClusterSettings, drawClusterSettings, plainClusterSettings, withoutStrangers } from './settings.ts';

/** Weights of the requests to a cluster, in addition to those to a node. */
export const clusterWeights = {
  'move-watch': 3,
  'move-leader': 1,
  'add-member': 1.5,
  'promote-member': 1.5,
  'remove-member': 1,
} as const;

/** Weights of the faults. A kind without a node in its name is for any node. */
const faultWeights = {
  crash: 1,
  'crash-leader': 1,
  stop: 0.7,
  pause: 1,
  'pause-leader': 1,
  'oust-leader': 1.5,
  'cut-way': 1,
  'cut-off': 1,
  'cut-off-leader': 1,
  heal: 1.5,
  'reset-connection': 1,
  'lost-append': 1,
  'storage-stall': 1,
  'storage-failure': 0.7,
  'raft-stall': 0.7,
  'raft-failure': 0.3,
  'values-stall': 0.7,
  'wall-jump': 0.3,
  'lost-copy': 0.3,
  'change-version': 1.5,
} as const;

/** See `ClusterScenarioStep`. */
const scenarioWeights = {
  'read-what-was-told': 1,
  'renew-at-ousted': 1,
  'start-behind-append': 1,
  'pause-in-settlement': 1,
  'apply-behind-others': 1,
  'lead-again': 1,
  'lose-takeover': 1,
  'stop-asked': 0.7,
  'look-at-ousted': 1,
  /** Of five members. In a group of three the pair would be a majority. */
  'look-beside-ousted': 4,
  'overtaken-copy': 1,
  'lead-unheard': 1,
  'recall-behind-compaction': 1,
  'move-from-takeover': 1,
  'end-in-round': 1.5,
  'join-behind-trim': 1,
  'start-all-blank': 0.7,
} as const;

export type ClusterRequestKind = RequestKind | UserKind | keyof typeof clusterWeights;
export type ClusterFaultKind = keyof typeof faultWeights;
export type ClusterScenarioKind = keyof typeof scenarioWeights | UserScenarioKind;
export type ClusterStepKind = ClusterRequestKind | ClusterFaultKind | ClusterScenarioKind | LieKind;
export type ClusterStep = Step<ClusterStepKind>;

export interface ClusterPlan {
  readonly seed: number;
  readonly settings: ClusterSettings;
  readonly steps: readonly ClusterStep[];
}

export const isClusterFault = (kind: ClusterStepKind): kind is ClusterFaultKind => kind in faultWeights;
export const isClusterScenario = (kind: ClusterStepKind): kind is ClusterScenarioKind =>
  kind in scenarioWeights || isUserScenario(kind);

/** The part of the steps that are lies, where a member lies. */
const LIE_SHARE = 0.2;
const STEPS_MIN = 30;
const STEPS_MAX = 200;
/** Longer gaps than for one node, because elections take seconds and bursts alone would end before the first. */
const GAPS_MS = [0, 0.5, 5, 50, 200, 400];

/** Alarms are only requested of a single node, because the member that raises one is part of the answer. */
const { 'alarm-on': _on, 'alarm-off': _off, ...nodeWeights } = requestWeights;

export function makeClusterPlan(seed: number, cut: Cut = {}): ClusterPlan {
  const random = new Prng(seed).fork('cluster plan');
  const drawn = withoutStrangers(withUsersFor(cut.scenario, drawClusterSettings(random), random));
  const settings = withPlain(drawn, plainClusterSettings, cut.plain);
  const kept = cut.keep === undefined ? undefined : new Set(cut.keep);
  const userKinds = settings.users === 'none' ? {} : userWeights;
  const requests = drawWeights(random, { ...nodeWeights, ...clusterWeights, ...userKinds }, 0.2);
  const faults = drawWeights(random, faultWeights, 0.4);
  const faultShare = random.pick([0, 0.05, 0.1, 0.2, 0.2]);
  const able = settings.members > 3 ? scenarioWeights : { ...scenarioWeights, 'look-beside-ousted': 0 };
  const all = { ...able, ...userScenarioWeights };
  const { scenarios, scenarioShare } = onlyScenario<ClusterScenarioKind>(cut.scenario, all, {
    scenarios: drawWeights(random, settings.users === 'none' ? able : all, 0.3),
    scenarioShare: random.pick([0, 0.02, 0.05]),
  });
  const lies = drawWeights(random, lieWeights, 0.2);
  const kindOf = (): ClusterStepKind => {
    if (settings.liar > 0 && random.chance(LIE_SHARE)) return lies(random);
    if (random.chance(scenarioShare)) return scenarios(random);
    return random.chance(faultShare) ? faults(random) : requests(random);
  };
  const steps = drawPhases(random, random.between(STEPS_MIN, STEPS_MAX), kindOf, GAPS_MS).filter(
    ({ id }) => kept === undefined || kept.has(id),
  );
  return { seed, settings, steps };
}
