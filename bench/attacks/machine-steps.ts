/**
 * What the machine itself adds to a stretch of an event loop: for `--minutes` (7) it only reads the CPU time of its thread, and prints
 * how often, and by how much at most, it jumped between two readings. Interrupts and the host of a virtual machine take such
 * time, and the kernel counts it for the thread. To be read beside `make bench-attacks-mixed`; at the same priority (`nice -n -10`).
 */
import { readOptions } from '../support/options.ts';
import { figure } from '../support/statistics.ts';
import { toText } from '../support/table.ts';
import { CpuSteps } from './cpu-steps.ts';

const { minutes } = readOptions(process.argv.slice(2), { minutes: 7 }, { minutes: 0.05 });

/** As the store's monitor of its event loop reads it. */
function cpuMs(): number {
  // Brings the thread's account up to date, which Linux does only at each tick otherwise.
  process.cpuUsage();
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

const endMs = performance.now() + minutes * 60_000;
const steps = new CpuSteps(cpuMs());
while (performance.now() < endMs) steps.read(cpuMs());
console.log(
  toText({
    title: `Steps of the CPU time of a thread that only reads it, ${minutes} minutes`,
    columns: ['above ms', 'times'],
    rows: [
      ...steps.counts.map(([limitMs, times]) => [String(limitMs), String(times)]),
      ['longest', figure(steps.longestMs)],
    ],
  }),
);
