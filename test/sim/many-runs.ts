import { type ChildProcess, fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { cpuMsOf } from './cpu-of-process.ts';

export interface Found {
  readonly seed: number;
  readonly kind: string;
  readonly message: string;
  /** Since the first run began. */
  readonly afterMs: number;
}

export interface ManyRunsOptions {
  readonly from: number;
  readonly runs: number;
  /** Ends all runs after this number of findings. */
  readonly findingsMax: number;
  /** Ends all runs after this time. */
  readonly timeMaxMs?: number;
  readonly workers?: number;
  readonly onFound?: (found: Found) => void;
  /** Called with the number of runs that have ended. */
  readonly onProgress?: (done: number) => void;
  /** For the workers' environment and their Node. */
  readonly env?: NodeJS.ProcessEnv;
  readonly execArgv?: readonly string[];
}

/** Message of a worker that begins or has ended the run of a seed. */
export type WorkerMessage =
  | { readonly kind: 'begin'; readonly seed: number }
  | {
      readonly kind: 'end';
      readonly seed: number;
      readonly found?: { readonly kind: string; readonly message: string };
    };

/** Limit of a run's CPU time. A normal run takes far less; one that takes more is in an endless loop. */
const RUN_MAX_MS = 60_000;
/** Limit of a run's wall time, for a process that gets no CPU. */
const RUN_MAX_WALL_MS = 30 * RUN_MAX_MS;
/** Maximum number of seeds for one process. A process takes as long to start as tens of runs. */
const CHUNK_MAX = 250;
/** Minimum number of chunks per worker, so that workers that end early take the rest. */
const CHUNKS_MIN = 4;
const worker = fileURLToPath(new URL('./worker.ts', import.meta.url));

/** Runs many seeds in processes of their own. Resolves with the findings in the order of seeds. */
export async function manyRuns(options: ManyRunsOptions): Promise<{ done: number; found: readonly Found[] }> {
  const { from, runs, findingsMax, timeMaxMs = Number.POSITIVE_INFINITY, onFound, onProgress } = options;
  const startMs = performance.now();
  const found: Found[] = [];
  let next = from;
  let done = 0;
  const over = (): boolean => found.length >= findingsMax || performance.now() - startMs > timeMaxMs;
  const workers = options.workers ?? availableParallelism();
  const chunkMax = Math.min(CHUNK_MAX, Math.ceil(runs / (workers * CHUNKS_MIN)));
  const takeChunk = (): readonly number[] => {
    const count = over() ? 0 : Math.max(0, Math.min(chunkMax, from + runs - next));
    next += count;
    return Array.from({ length: count }, (_, at) => next - count + at);
  };
  const ended = (seed: number, finding: { kind: string; message: string } | undefined): void => {
    done += 1;
    onProgress?.(done);
    if (finding === undefined || found.length >= findingsMax) return;
    const one = { seed, ...finding, afterMs: performance.now() - startMs };
    found.push(one);
    onFound?.(one);
  };
  const work = async (): Promise<void> => {
    for (let chunk = takeChunk(); chunk.length > 0; ) {
      const left = await runChunk(chunk, options, ended, over);
      chunk = left.length > 0 && !over() ? left : takeChunk();
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  return { done, found: found.sort((left, right) => left.seed - right.seed) };
}

/** Resolves with the seeds that the worker has not run, for example because it was stuck. */
function runChunk(
  seeds: readonly number[],
  options: ManyRunsOptions,
  ended: (seed: number, finding: { kind: string; message: string } | undefined) => void,
  over: () => boolean,
): Promise<readonly number[]> {
  const left = [...seeds];
  const child: ChildProcess = fork(worker, seeds.map(String), {
    env: { ...process.env, ...options.env },
    execArgv: [...(options.execArgv ?? [])],
  });
  let current: number | undefined;
  let stuck: NodeJS.Timeout | undefined;
  const end = (seed: number, finding?: { kind: string; message: string }): void => {
    clearTimeout(stuck);
    current = undefined;
    left.splice(left.indexOf(seed), 1);
    ended(seed, finding);
    if (over()) child.kill('SIGKILL');
  };
  /** The limit is CPU time, because a run may wait for long on a busy machine. */
  const watch = (seed: number, beganMs: number, beganCpuMs: number): void => {
    stuck = setTimeout(() => {
      const wallMs = performance.now() - beganMs;
      const cpuNowMs = cpuMs();
      const usedMs = cpuNowMs === undefined ? wallMs : cpuNowMs - beganCpuMs;
      if (usedMs < RUN_MAX_MS && wallMs < RUN_MAX_WALL_MS) {
        watch(seed, beganMs, beganCpuMs);
        return;
      }
      end(seed, { kind: 'hang', message: 'goes round in circles: no event has its turn any more' });
      child.kill('SIGKILL');
    }, RUN_MAX_MS);
  };
  const cpuMs = (): number | undefined => (child.pid === undefined ? undefined : cpuMsOf(child.pid));
  child.on('message', (message: WorkerMessage) => {
    if (message.kind === 'end') {
      end(message.seed, message.found);
      return;
    }
    current = message.seed;
    watch(message.seed, performance.now(), cpuMs() ?? 0);
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => {
      clearTimeout(stuck);
      if (current !== undefined && !over() && code !== null)
        end(current, { kind: 'broken', message: `the process of the run ended with code ${code}` });
      resolve(left);
    });
  });
}
