import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** Resources used by a process and its descendants. */
export interface Usage {
  /** User and system time of the running processes, in seconds. */
  readonly cpuSeconds: number;
  /** The time of each process's first thread: for node, the event loop. */
  readonly mainThreadSeconds: number;
  /** Resident now. `anonymousMb` of it belongs to the process. The rest are pages of files, which the kernel can drop. */
  readonly residentMb: number;
  readonly anonymousMb: number;
  /** The peak of the resident memory. */
  readonly peakMb: number;
}

/** The kernel's unit of CPU time, on every Linux that node runs on. */
const TICKS_PER_SECOND = 100;

const IDLE_LOOK_MS = 300;

/** The fields of /proc/<pid>/stat after the name, which may contain spaces and parentheses. [0] is the state. */
export const statFields = (stat: string): string[] => stat.slice(stat.lastIndexOf(')') + 2).split(' ');

export function cpuSecondsOf(stat: string): number {
  const fields = statFields(stat);
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** A field of /proc/<pid>/status that is in kB, converted to MiB. 0 if it is missing. */
export function statusMb(status: string, field: string): number {
  const found = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status);
  return Number(found?.[1] ?? 0) / 1024;
}

/** Waits until `usage` shows less than `shareMax` of a core, or nothing because the process has ended, or `maxMs`. */
export async function untilIdle<Seen extends Usage | undefined>(
  usage: () => Seen,
  shareMax: number,
  maxMs: number,
): Promise<Seen> {
  const endMs = performance.now() + maxMs;
  let before = usage();
  for (;;) {
    await delay(IDLE_LOOK_MS);
    const now = usage();
    if (before === undefined || now === undefined || performance.now() >= endMs) return now;
    const share = (now.cpuSeconds - before.cpuSeconds) / (IDLE_LOOK_MS / 1000);
    if (share < shareMax) return now;
    before = now;
  }
}

export function usageOf(pid: number): Usage {
  let cpuSeconds = 0;
  let mainThreadSeconds = 0;
  let residentMb = 0;
  let anonymousMb = 0;
  let peakMb = 0;
  for (const each of treeOf(pid)) {
    const stat = readOf(each, 'stat');
    const status = readOf(each, 'status');
    if (stat === undefined || status === undefined) continue;
    cpuSeconds += cpuSecondsOf(stat);
    mainThreadSeconds += cpuSecondsOf(readOf(each, `task/${each}/stat`) ?? stat);
    residentMb += statusMb(status, 'VmRSS');
    anonymousMb += statusMb(status, 'RssAnon');
    peakMb += statusMb(status, 'VmHWM');
  }
  return { cpuSeconds, mainThreadSeconds, residentMb, anonymousMb, peakMb };
}

/** A process and its descendants: a command may be a script that starts the store. */
function treeOf(root: number): number[] {
  const children = new Map<number, number[]>();
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const stat = readOf(Number(entry), 'stat');
    if (stat === undefined) continue;
    const parent = Number(statFields(stat)[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(entry)]);
  }
  const tree = [root];
  for (const pid of tree) tree.push(...(children.get(pid) ?? []));
  return tree;
}

/** Undefined if the process has ended. */
function readOf(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return undefined;
  }
}
