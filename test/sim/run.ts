import { Finding } from './judge/finding.ts';
import { type Cut, isFault, isScenario, makePlan } from './plan/plan.ts';
import { FaultStep } from './world/fault-steps.ts';
import { finish } from './world/final-checks.ts';
import { foundUsers } from './users/founder.ts';
import { RequestStep } from './world/request-steps.ts';
import { ScenarioStep } from './world/scenario-steps.ts';
import { World } from './world/world.ts';

export interface Outcome {
  readonly plan: { readonly steps: readonly { readonly id: number }[] };
  /** Undefined if the run found no defect. */
  readonly finding: Finding | undefined;
  /** Empty if it was not requested. */
  readonly story: readonly string[];
  /** The number of scheduler events. It is equal in two runs of one plan. */
  readonly events: number;
  readonly revision: number;
}

export interface RunOptions {
  readonly cut?: Cut;
  /** Called with each line of the story as it happens. */
  readonly onLine?: (line: string) => void;
}

/** The world of a run: see `guardedRun`. */
export interface Running {
  fail(error: unknown): void;
  run<Value>(work: Promise<Value>): Promise<Value>;
  /** Kills all processes. */
  end(): void;
  tell(text: () => string): void;
}

/** The run in progress. An unhandled rejection during a run is a finding of that run. */
let current: Running | undefined;
process.on('unhandledRejection', (error) => {
  current?.fail(new Finding('broken', `nobody handled ${String(error)}`, { cause: error }));
});

/** Runs `play` to its end, or to the first finding. */
export async function guardedRun(world: Running, play: () => Promise<void>): Promise<Finding | undefined> {
  current = world;
  let finding: Finding | undefined;
  try {
    await world.run(play());
  } catch (error) {
    finding = error instanceof Finding ? error : new Finding('broken', String(error), { cause: error });
  } finally {
    current = undefined;
  }
  world.end();
  const { kind, message } = finding ?? {};
  if (finding !== undefined) world.tell(() => `FINDING ${kind}: ${message}`);
  return finding;
}

/** Runs the plan of a seed to its end, or to the first finding. */
export async function run(seed: number, options: RunOptions = {}): Promise<Outcome> {
  const plan = makePlan(seed, options.cut);
  const world = new World(plan, options.onLine !== undefined, options.onLine);
  const finding = await guardedRun(world, () => play(world));
  const { fired } = world.scheduler;
  return { plan, finding, story: world.story.lines, events: fired, revision: world.history.revision };
}

async function play(world: World): Promise<void> {
  world.start();
  if (world.settings.users !== 'none') void foundUsers(world.founding);
  for (const step of world.plan.steps) {
    world.scheduler.after(step.atMs, () =>
      world.guarded(() => {
        if (isFault(step.kind)) FaultStep.run(world, step, step.kind);
        else if (isScenario(step.kind)) ScenarioStep.run(world, step, step.kind);
        else RequestStep.run(world, world.life, step, step.kind);
      }),
    );
  }
  await world.delay((world.plan.steps.at(-1)?.atMs ?? 0) + 1);
  await finish(world);
}
