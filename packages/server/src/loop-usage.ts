import type { LoopUsage } from '@engram/telemetry';

/** What the calling thread has used of a core, and how long its event loop has waited. */
export function loopUsage(): LoopUsage {
  // Linux adds the time of a running thread to its account only at each tick, every 4 ms with the usual kernel, so 6 ms of
  // work could count as 10. When the time of the whole process is read, the kernel brings the account up to date.
  process.cpuUsage();
  const { user, system } = process.threadCpuUsage();
  return { cpuMs: (user + system) / 1e3, idleMs: performance.nodeTiming.idleTime };
}
