import { execFileSync } from 'node:child_process';
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { commandOf } from './programs.ts';
import { figure, median, quantile } from './statistics.ts';

const SYNCS = 200;
const SYNC_BYTES = 4096;

/** What a reader must know about the machine, one fact a line. */
export function machineFacts(directory: string): readonly string[] {
  const cores = cpus();
  return [
    `date: ${new Date().toISOString().slice(0, 10)}`,
    `machine: ${cores.length} cores (${cores[0]?.model.trim() ?? 'unknown'}), ${figure(totalmem() / 2 ** 30)} GiB`,
    `kernel: Linux ${release()}`,
    `disk: a write of ${SYNC_BYTES} bytes with fdatasync takes ${syncFigures(directory)}`,
    `engram: ${versionOf(['git', 'describe', '--always', '--dirty'])}, node ${process.version}`,
    `etcd: ${versionOf([...commandOf('etcd'), '--version'])}`,
  ];
}

function versionOf([program = '', ...args]: readonly string[]): string {
  try {
    const output = execFileSync(program, args, { cwd: import.meta.dirname, encoding: 'utf8', timeout: 20_000 });
    return output.split('\n')[0]?.replace('etcd Version: ', 'v') ?? 'unknown';
  } catch {
    return 'unknown';
  }
}

/** The cost of a sync: every acknowledged write pays at least this. */
function syncFigures(parent: string): string {
  const directory = mkdtempSync(join(parent, 'sync-'));
  const file = openSync(join(directory, 'file'), 'w');
  try {
    const block = Buffer.alloc(SYNC_BYTES, 's');
    const times = Array.from({ length: SYNCS }, () => {
      const startMs = performance.now();
      writeSync(file, block);
      fdatasyncSync(file);
      return performance.now() - startMs;
    });
    return `${figure(median(times))} ms (p99 ${figure(quantile(times, 0.99))} ms)`;
  } finally {
    closeSync(file);
    rmSync(directory, { recursive: true });
  }
}
