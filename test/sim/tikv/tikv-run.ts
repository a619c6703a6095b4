import { ClusterRequestStep } from '../cluster/cluster-requests.ts';
import { foundUsers } from '../users/founder.ts';
import { guardedRun, type Outcome, type RunOptions } from '../run.ts';
import { TikvFaultStep } from './tikv-faults.ts';
import { finish } from './tikv-finish.ts';
import { isTikvFault, isTikvScenario, makeTikvPlan, type TikvPlan } from './tikv-plan.ts';
import { TikvScenarioStep } from './tikv-scenarios.ts';
import { TikvWorld } from './tikv-world.ts';

/** Runs the plan of a seed on the scripted stores to its end, or to the first finding. */
export async function runTikv(seed: number, options: RunOptions = {}): Promise<Outcome> {
  return await runTikvPlan(makeTikvPlan(seed, options.cut), options);
}

export async function runTikvPlan(plan: TikvPlan, options: RunOptions = {}): Promise<Outcome> {
  const world = new TikvWorld(plan, options.onLine !== undefined, options.onLine);
  const finding = await guardedRun(world, () => play(world));
  const { fired } = world.scheduler;
  return { plan, finding, story: world.story.lines, events: fired, revision: world.history.revision };
}

async function play(world: TikvWorld): Promise<void> {
  for (const node of world.nodes) world.start(node);
  if (world.settings.users !== 'none') void foundUsers(world.founding);
  for (const step of world.plan.steps) {
    world.scheduler.after(step.atMs, () =>
      world.guarded(() => {
        const { kind } = step;
        if (isTikvFault(kind)) TikvFaultStep.run(world, step, kind);
        else if (isTikvScenario(kind)) TikvScenarioStep.run(world, step, kind);
        else ClusterRequestStep.run(world, step, kind);
      }),
    );
  }
  await world.delay((world.plan.steps.at(-1)?.atMs ?? 0) + 1);
  await finish(world);
}
