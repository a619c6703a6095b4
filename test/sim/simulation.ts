import { makeClusterPlan } from './cluster/cluster-plan.ts';
import { runCluster } from './cluster/cluster-run.ts';
import { plainClusterSettings } from './cluster/settings.ts';
import { type Cut, makePlan } from './plan/plan.ts';
import { plainSettings } from './plan/settings.ts';
import { type Outcome, run, type RunOptions } from './run.ts';

/** What can be run by a seed. */
export interface Simulation {
  readonly name: string;
  /** What `make sim` is told to choose it. */
  readonly choice: string;
  makePlan(seed: number, cut?: Cut): { readonly settings: object; readonly steps: readonly { readonly id: number }[] };
  run(seed: number, options?: RunOptions): Promise<Outcome>;
  /** Settings as in production. */
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

/** By the variable CLUSTER of the environment. */
export function chosenSimulation(): Simulation {
  const { CLUSTER = '' } = process.env;
  return CLUSTER === '' || CLUSTER === '0' ? nodeSimulation : clusterSimulation;
}
