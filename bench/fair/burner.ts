/**
 * Uses a part of one core and talks to nobody: burner.ts CORES NICE. On SIGUSR2 it begins to count, and on SIGTERM it prints
 * the cores that it has used since then. Prints `burning` at its start.
 */
import { setPriority } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { CoreCount } from './core-count.ts';

/** As long as a client works on what one write of a store brings. */
const STRETCH_MAX_MS = 4;
const PAUSE_MS = 1;
const [cores, nice] = process.argv.slice(2).map(Number);

setPriority(nice ?? 0);
const count = new CoreCount();
process.on('SIGUSR2', () => count.begin());
process.on('SIGTERM', () => {
  console.log(JSON.stringify({ cores: count.cores }));
  process.exit(0);
});
console.log('burning');
const [startMs, cpuBeforeMs] = [performance.now(), CoreCount.cpuMs()];
for (;;) {
  const stretchMs = performance.now() + STRETCH_MAX_MS;
  while (performance.now() < stretchMs) {
    if (CoreCount.cpuMs() - cpuBeforeMs >= (cores ?? 0) * (performance.now() - startMs)) break;
  }
  await delay(PAUSE_MS);
}
