// `make sim-mutants`: puts each defect in and looks for a seed that finds it. MUTANTS=a,b takes only these, MINUTES=n is the
// time for each (5), FROM=seed where to begin, WORKERS=n on so many cores; CLUSTER=1, TIKV=1: those of clusters, and of clusters on the
// scripted stores; SCENARIO=kind: all scenarios are of this kind, and there are many; a mutant may name one itself. A mutant that names a test
// is shown to that test, and one that names schedules to the small games of `make schedules`.
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { type Found, manyRuns } from '../many-runs.ts';
import { chosenSimulation, clusterSimulation, tikvSimulation } from '../simulation.ts';
import { mutants } from './catalogue.ts';
import { clusterMutants } from './cluster-catalogue.ts';
import type { Mutant } from './mutant.ts';
import { failedSchedule } from './schedule-finder.ts';
import { failedTest } from './test-finder.ts';
import { tikvMutants } from './tikv-catalogue.ts';

const RUNS_MAX = 1_000_000;
const { MUTANTS, MINUTES, FROM, WORKERS, SCENARIO } = process.env;
const { name: chosenName } = chosenSimulation();
const lists = new Map([
  [clusterSimulation.name, clusterMutants],
  [tikvSimulation.name, tikvMutants],
]);
const all = lists.get(chosenName) ?? mutants;
const workers = Number(WORKERS ?? availableParallelism());
const timeMaxMs = Number(MINUTES ?? 5) * 60_000;
const chosen = MUTANTS === undefined ? all : all.filter(({ name }) => MUTANTS.split(',').includes(name));
const hook = fileURLToPath(new URL('./hook.ts', import.meta.url));

console.log(`| mutant | found by | seed | runs | seconds on ${workers} cores |`);
console.log('| --- | --- | --- | --- | --- |');

/** What finds the mutant without a seed. Undefined: seeds are to find it. */
function finderOf({ name, test, schedules }: Mutant): { readonly by: string; find(): string | undefined } | undefined {
  if (test !== undefined) return { by: test.file, find: () => failedTest(name, test.file, test.env) };
  return schedules && { by: 'schedules', find: () => failedSchedule(name) };
}

/** The first seed that finds the mutant, and the number of runs. */
async function foundBySeed({ name, scenario }: Mutant): Promise<{ done: number; first: Found | undefined }> {
  const { done, found } = await manyRuns({
    from: Number(FROM ?? 1),
    runs: RUNS_MAX,
    findingsMax: 1,
    timeMaxMs,
    workers,
    env: scenario === undefined ? { MUTANT: name } : { MUTANT: name, SCENARIO: SCENARIO ?? scenario },
    execArgv: ['--import', hook],
  });
  return { done, first: found[0] };
}

const cell = (text: string): string => text.replaceAll('|', '/').replaceAll('\n', ' ').slice(0, 160);
const secondsOf = (ms: number): string => (ms / 1000).toFixed(1);

let missed = 0;
for (const mutant of chosen) {
  const { name } = mutant;
  const finder = finderOf(mutant);
  if (finder === undefined) {
    const { done, first } = await foundBySeed(mutant);
    if (first === undefined) missed += 1;
    const text = first === undefined ? '**nothing**' : cell(`${first.kind}: ${first.message}`);
    const seconds = first === undefined ? '-' : secondsOf(first.afterMs);
    console.log(`| ${name} | ${text} | ${first?.seed ?? '-'} | ${done} | ${seconds} |`);
  } else {
    const startMs = performance.now();
    const failed = finder.find();
    if (failed === undefined) missed += 1;
    const text = failed === undefined ? '**nothing**' : `${finder.by}: ${cell(failed)}`;
    console.log(`| ${name} | ${text} | - | 1 | ${secondsOf(performance.now() - startMs)} |`);
  }
}
console.log(`sim: ${chosen.length} mutants, ${missed} not found`);
process.exitCode = missed === 0 ? 0 : 1;
