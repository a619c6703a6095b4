import { makeClusterPlan } from './cluster/cluster-plan.ts';
import { runCluster } from './cluster/cluster-run.ts';
import { plainClusterSettings } from './cluster/settings.ts';
import { type Cut, makePlan } from './plan/plan.ts';
import { plainSettings } from './plan/settings.ts';
import { type Outcome, run, type RunOptions } from './run.ts';
import { makeTikvPlan } from './tikv/tikv-plan.ts';
import { runTikv } from './tikv/tikv-run.ts';
import { plainTikvSettings } from './tikv/tikv-settings.ts';

/** A simulation that can be run by a seed. */
export interface Simulation {
  readonly name: string;
  /** The arguments of `make sim` that choose it. */
  readonly choice: string;
  makePlan(seed: number, cut?: Cut): { readonly settings: object; readonly steps: readonly { readonly id: number }[] };
  run(seed: number, options?: RunOptions): Promise<Outcome>;
  /** The settings of production. */
  readonly plain: object;
}

export const nodeSimulation: Simulation = { name: 'a node', choice: '', makePlan, run, plain: plainSettings };

export const clusterSimulation: Simulation = {
  name: 'a cluster',
  choice: 'CLUSTER=1 ',
  makePlan: makeClusterPlan,
  run: runCluster,
  plain: plainClusterSettings,
};

export const tikvSimulation: Simulation = {
  name: 'a cluster on TiKV',
  choice: 'TIKV=1 ',
  makePlan: makeTikvPlan,
  run: runTikv,
  plain: plainTikvSettings,
};

const isSet = (value = ''): boolean => value !== '' && value !== '0';

/** The simulation chosen by the environment variables CLUSTER, TIKV and SCENARIO. */
export function chosenSimulation(): Simulation {
  const { CLUSTER, TIKV, SCENARIO = '' } = process.env;
  const simulation = isSet(TIKV) ? tikvSimulation : isSet(CLUSTER) ? clusterSimulation : nodeSimulation;
  return SCENARIO === '' ? simulation : only(SCENARIO, simulation);
}

/** The simulation with scenarios of this kind only, which come often. */
function only(scenario: string, simulation: Simulation): Simulation {
  return {
    ...simulation,
    choice: `${simulation.choice}SCENARIO=${scenario} `,
    makePlan: (seed, cut) => simulation.makePlan(seed, { ...cut, scenario }),
    run: (seed, options) => simulation.run(seed, { ...options, cut: { ...options?.cut, scenario } }),
  };
}
