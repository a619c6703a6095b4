import { readFileSync } from 'node:fs';

/** The kernel's USER_HZ: the same on all of Linux's architectures that Node runs on. */
const TICKS_PER_SECOND = 100;
/** Of the fields of /proc/<pid>/stat behind the name of the command. */
const USER_TICKS = 11;
const SYSTEM_TICKS = 12;

/** What a process has used of a CPU, in milliseconds. Undefined: the system does not say, or the process is no more. */
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
