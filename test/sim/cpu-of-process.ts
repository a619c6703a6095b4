import { readFileSync } from 'node:fs';

/** The kernel's USER_HZ. It is the same on all Linux architectures that Node runs on. */
const TICKS_PER_SECOND = 100;
/** Indices of the fields of /proc/<pid>/stat after the command's name. */
const USER_TICKS = 11;
const SYSTEM_TICKS = 12;

/** The CPU time of a process in milliseconds. Undefined if the system does not provide it, or the process has ended. */
export function cpuMsOf(pid: number): number | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return undefined;
  }
  // The command's name is in parentheses and may hold any character.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[USER_TICKS]) + Number(fields[SYSTEM_TICKS]);
  return Number.isFinite(ticks) ? (ticks * 1000) / TICKS_PER_SECOND : undefined;
}
