import { makeClusterPlan } from './cluster/cluster-plan.ts';
import { runCluster } from './cluster/cluster-run.ts';
import { plainClusterSettings } from './cluster/settings.ts';
import { type Cut, makePlan } from './plan/plan.ts';
import { plainSettings } from './plan/settings.ts';
import { type Outcome, run, type RunOptions } from './run.ts';

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

/** The simulation chosen by the environment variables CLUSTER and SCENARIO. */
export function chosenSimulation(): Simulation {
  const { CLUSTER = '', SCENARIO = '' } = process.env;
  const simulation = CLUSTER === '' || CLUSTER === '0' ? nodeSimulation : clusterSimulation;
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
