import { foundUsers } from '../users/founder.ts';
import { guardedRun, type Outcome, type RunOptions } from '../run.ts';
import { ClusterFaultStep } from './cluster-faults.ts';
import { finish } from './cluster-finish.ts';
import { type ClusterPlan, isClusterFault, isClusterScenario, makeClusterPlan } from './cluster-plan.ts';
import { ClusterRequestStep } from './cluster-requests.ts';
import { ClusterScenarioStep } from './cluster-scenarios.ts';
import { isLie, LieStep } from './liar.ts';
import { ClusterWorld } from './cluster-world.ts';

/** Runs the plan of a cluster's seed to its end, or to the first finding. */
export async function runCluster(seed: number, options: RunOptions = {}): Promise<Outcome> {
  return await runClusterPlan(makeClusterPlan(seed, options.cut), options);
}

export async function runClusterPlan(plan: ClusterPlan, options: RunOptions = {}): Promise<Outcome> {
  const world = new ClusterWorld(plan, options.onLine !== undefined, options.onLine);
  const finding = await guardedRun(world, () => play(world));
  const { fired } = world.scheduler;
  return { plan, finding, story: world.story.lines, events: fired, revision: world.history.revision };
}

async function play(world: ClusterWorld): Promise<void> {
  for (const node of world.nodes) world.start(node);
  if (world.settings.users !== 'none') void foundUsers(world.founding);
  for (const step of world.plan.steps) {
    world.scheduler.after(step.atMs, () =>
      world.guarded(() => {
        const { kind } = step;
        if (isClusterFault(kind)) ClusterFaultStep.run(world, step, kind);
        else if (isClusterScenario(kind)) ClusterScenarioStep.run(world, step, kind);
        else if (isLie(kind)) LieStep.run(world, step, kind);
        else ClusterRequestStep.run(world, step, kind);
      }),
    );
  }
  await world.delay((world.plan.steps.at(-1)?.atMs ?? 0) + 1);
  await finish(world);
}
