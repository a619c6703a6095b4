import { readFileSync } from 'node:fs';

const MS_PER_TICK = 10;

/** The resources that a process uses, as Linux reports them. */
export class Usage {
  readonly #pid: number;

  constructor(pid: number) {
    this.#pid = pid;
  }

  /** CPU time of all threads since the process began. */
  cpuMs(): number {
    const fields = this.#read('stat').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * MS_PER_TICK;
  }

  /** How long the process's first thread, or this process's, was ready to run but had no core. */
  waitedMs(): number {
    const waitedNs = (text: string): number => Number(text.split(' ')[1] ?? 0);
    return (waitedNs(this.#read('schedstat')) + waitedNs(readFileSync('/proc/self/schedstat', 'utf8'))) / 1e6;
  }

  residentBytes(): number {
    return 1024 * Number(/^VmRSS:\s+(\d+) kB/m.exec(this.#read('status'))?.[1] ?? 0);
  }

  #read(file: string): string {
    try {
      return readFileSync(`/proc/${this.#pid}/${file}`, 'utf8');
    } catch {
      return ''; // the process has ended, which another oracle reports
    }
  }
}

export interface Stretch {
  readonly by: string;
  readonly ms: number;
}

/** The stretches that kept the node's event loop for longer than its budget, the longest first. */
export async function longestStretches(port: number): Promise<readonly Stretch[]> {
  const text = await scraped(port);
  return [...text.matchAll(/^engram_loop_longest_stretch_seconds\{phase="(.*?)",method="(.*?)"\} (.*)$/gm)]
    .map(([, phase = '', method = '', seconds]) => ({
      by: `${phase} ${method}`.trim(),
      ms: Math.round(1000 * Number(seconds)),
    }))
    .sort((left, right) => right.ms - left.ms);
}

const SCRAPES_MAX = 5;

/** Retries: on a busy machine a connection may wait for so long that the node closes it. */
async function scraped(port: number): Promise<string> {
  for (let scrape = 1; ; scrape += 1) {
    try {
      return await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    } catch (error) {
      if (scrape === SCRAPES_MAX) throw error;
    }
  }
}
