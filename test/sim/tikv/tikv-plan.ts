import { Prng } from '@engram/sim';
import { clusterWeights } from '../cluster/cluster-plan.ts';
import {
  type Cut,
  drawPhases,
  drawWeights,
  onlyScenario,
  type RequestKind,
  requestWeights,
  type Step,
} from '../plan/plan.ts';
import { withPlain } from '../plan/settings.ts';
import { type UserKind, userWeights } from '../users/user-weights.ts';
import { drawTikvSettings, plainTikvSettings, type TikvSettings } from './tikv-settings.ts';

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
  'cut-off-leader': 1.5,
  heal: 0.7,
  'reset-connection': 0.7,
  'wall-jump': 0.3,
  'change-version': 1,
  'cut-storage': 1,
  'lost-write': 3,
  'late-write': 1.5,
  'storage-stall': 1,
  'storage-reset': 0.7,
  'region-split': 2,
  'region-merge': 1.5,
  'region-move': 1.5,
  'region-error': 1.5,
  'store-lost': 1,
  'store-busy': 0.5,
  'decline-one-phase': 0.5,
  'pd-outage': 1,
  'pd-clock': 0.5,
  'pd-view': 0.5,
  'damaged-piece': 1,
} as const;

/** See `TikvScenarioStep`. */
const scenarioWeights = {
  'away-behind-trim': 3,
  'replace-member': 2,
  'split-processes': 2,
  'force-alone': 0.7,
  'settle-behind-trim': 2,
  'seal-between-parts': 1.5,
  'read-what-was-told': 0.5,
  'renew-at-ousted': 1,
  'lead-again': 0.7,
  'lose-takeover': 1,
  'stop-asked': 0.5,
  'look-at-ousted': 1,
  'lead-unheard': 0.7,
  'recall-behind-compaction': 0.7,
  'start-all-blank': 1,
  'pd-goes-back': 0.7,
} as const;

export type TikvRequestKind = RequestKind | UserKind | keyof typeof clusterWeights;
export type TikvFaultKind = keyof typeof faultWeights;
export type TikvScenarioKind = keyof typeof scenarioWeights;
export type TikvStepKind = TikvRequestKind | TikvFaultKind | TikvScenarioKind;
export type TikvStep = Step<TikvStepKind>;

export interface TikvPlan {
  readonly seed: number;
  readonly settings: TikvSettings;
  readonly steps: readonly TikvStep[];
}

export const isTikvFault = (kind: TikvStepKind): kind is TikvFaultKind => kind in faultWeights;
export const isTikvScenario = (kind: TikvStepKind): kind is TikvScenarioKind => kind in scenarioWeights;

const STEPS_MIN = 30;
const STEPS_MAX = 120;
const GAPS_MS = [0, 0.5, 5, 50, 200, 400];

const { 'alarm-on': _on, 'alarm-off': _off, ...nodeWeights } = requestWeights;

export function makeTikvPlan(seed: number, cut: Cut = {}): TikvPlan {
  const random = new Prng(seed).fork('tikv plan');
  const settings = withPlain(drawTikvSettings(random), plainTikvSettings, cut.plain);
  const kept = cut.keep === undefined ? undefined : new Set(cut.keep);
  const userKinds = settings.users === 'none' ? {} : userWeights;
  const requests = drawWeights(random, { ...nodeWeights, ...clusterWeights, ...userKinds }, 0.2);
  const faults = drawWeights(random, faultWeights, 0.5);
  const faultShare = random.pick([0, 0.05, 0.1, 0.2]);
  const { scenarios, scenarioShare } = onlyScenario(cut.scenario, scenarioWeights, {
    scenarios: drawWeights(random, scenarioWeights, 0.4),
    scenarioShare: random.pick([0, 0.03, 0.08]),
  });
  const kindOf = (): TikvStepKind => {
    if (random.chance(scenarioShare)) return scenarios(random);
    return random.chance(faultShare) ? faults(random) : requests(random);
  };
  const steps = drawPhases(random, random.between(STEPS_MIN, STEPS_MAX), kindOf, GAPS_MS).filter(
    ({ id }) => kept === undefined || kept.has(id),
  );
  return { seed, settings, steps };
}
