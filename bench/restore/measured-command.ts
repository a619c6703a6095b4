import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { usageOf } from '../support/usage.ts';

/** What a command took. */
export interface CommandCost {
  readonly seconds: number;
  readonly cpuSeconds: number;
  /** The peak of the resident memory, pages of mapped files with it. */
  readonly peakMb: number;
  /** The most that was seen of the memory that is the process's own. */
  readonly anonymousMb: number;
}

const LOOK_MS = 50;
const OUTPUT_MAX = 8_000;
const COMMAND_MAX_MS = 3_600_000;

/** Runs a command to its end. Rejects with its output if it fails. CPU of its last 50 ms may be missing. */
export async function measuredCommand(command: readonly string[]): Promise<CommandCost> {
  const [program = '', ...args] = command;
  const startMs = performance.now();
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], timeout: COMMAND_MAX_MS });
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-OUTPUT_MAX);
    });
  }
  let ended = false;
  const end = once(child, 'close').finally(() => {
    ended = true;
    process.removeListener('exit', kill);
  });
  let cpuSeconds = 0;
  let peakMb = 0;
  let anonymousMb = 0;
  while (!ended && child.pid !== undefined) {
    const usage = usageOf(child.pid);
    cpuSeconds = Math.max(cpuSeconds, usage.cpuSeconds);
    peakMb = Math.max(peakMb, usage.peakMb);
    anonymousMb = Math.max(anonymousMb, usage.anonymousMb);
    await Promise.race([end, delay(LOOK_MS)]);
  }
  await end;
  const seconds = (performance.now() - startMs) / 1000;
  if (child.exitCode !== 0) throw new Error(`${command.join(' ')}: ${child.exitCode ?? child.signalCode}\n${output}`);
  return { seconds, cpuSeconds, peakMb, anonymousMb };
}
