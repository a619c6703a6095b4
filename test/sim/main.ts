// `make sim`: SEED=n replays one run and prints its story, RUNS=n does n runs; CLUSTER=1 simulates a cluster. See
// README.md.
import { manyRuns } from './many-runs.ts';
import { readCut, shrink, textOfCut } from './shrink.ts';
import { chosenSimulation } from './simulation.ts';

const { SEED, RUNS, FROM, KEEP, PLAIN, WORKERS } = process.env;
const simulation = chosenSimulation();
const { run, makePlan, choice } = simulation;
const FINDINGS_MAX = 20;
const RUNS_DEFAULT = 1000;

function whole(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`${name} is no whole number: ${text}`);
  return value;
}

async function replay(seed: number): Promise<boolean> {
  const { finding, plan, events, revision } = await run(seed, {
    cut: readCut(KEEP, PLAIN),
    onLine: (line) => console.log(line),
  });
  console.log(`seed ${seed}: ${plan.steps.length} steps, ${events} events, revision ${revision}`);
  for (let cause = finding?.cause; cause instanceof Error; cause = cause.cause) console.log(cause.stack);
  console.log(`sim: 1 runs, ${finding === undefined ? 0 : 1} findings`);
  return finding === undefined;
}

async function many(runs: number): Promise<boolean> {
  const from = FROM === undefined ? Date.now() % 2 ** 31 : whole('FROM', FROM);
  console.log(`sim: ${runs} runs from seed ${from}`);
  const { done, found } = await manyRuns({
    from,
    runs,
    findingsMax: FINDINGS_MAX,
    ...(WORKERS === undefined ? {} : { workers: whole('WORKERS', WORKERS) }),
    onFound: ({ seed, kind, message }) => console.log(`seed ${seed}: ${kind}: ${message}`),
    onProgress: (count) => {
      if (count % 1000 === 0) console.log(`sim: ${count} runs`);
    },
  });
  const first = found[0];
  if (first !== undefined) await explain(first.seed);
  console.log(`sim: ${done} runs, ${found.length} findings`);
  return found.length === 0;
}

/** Prints a shorter plan, with its story. */
async function explain(seed: number): Promise<void> {
  const { finding } = await run(seed);
  if (finding === undefined) {
    console.log(`seed ${seed} finds nothing in a process of its own`);
    return;
  }
  const shrunk = await shrink(simulation, seed, finding);
  const { steps } = makePlan(seed, shrunk.cut);
  console.log(`\nshortened in ${shrunk.runs} runs from ${makePlan(seed).steps.length} steps to ${steps.length}:`);
  await run(seed, { cut: shrunk.cut, onLine: (line) => console.log(line) });
  console.log(`\nto replay it: make sim ${choice}SEED=${seed} ${textOfCut(shrunk.cut)}`);
  console.log(`     whole: make sim ${choice}SEED=${seed}`);
}

const clean =
  SEED === undefined ? await many(whole('RUNS', RUNS ?? `${RUNS_DEFAULT}`)) : await replay(whole('SEED', SEED));
process.exitCode = clean ? 0 : 1;
