// Runs the given seeds and reports the findings: see many-runs.ts.
import type { WorkerMessage } from './many-runs.ts';
import { chosenSimulation } from './simulation.ts';

const { run } = chosenSimulation();
const tell = (message: WorkerMessage): void => void process.send?.(message);

for (const seed of process.argv.slice(2).map(Number)) {
  tell({ kind: 'begin', seed });
  const { finding } = await run(seed);
  if (finding === undefined) tell({ kind: 'end', seed });
  else tell({ kind: 'end', seed, found: { kind: finding.kind, message: finding.message } });
}
process.disconnect?.();
