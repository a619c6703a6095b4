import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { type Outcome, parseOutcome } from './outcome.ts';
import { loadgen } from './programs.ts';
import type { Usage } from './usage.ts';

/** How long after the generator's own bound it is killed. */
const KILL_AFTER_MS = 20_000;
const LOAD_MAX_S = 600;

/** Options beyond the defaults. */
interface LoadOptions {
  /** How long the generator may take, including its preparation. */
  readonly maxSeconds?: number;
  /** Called between the preparation and the measured part. */
  readonly onPrepared?: () => Promise<void>;
  /** Called for each line when it arrives. */
  readonly onOutcome?: (outcome: Outcome) => void;
}
/** How long to wait for the store's deferred work, whose CPU time counts for the load. */
const IDLE_MAX_MS = 5_000;

/** The target of a load: one store, or several processes measured as one. */
export interface LoadTarget {
  /** host:port */
  readonly target: string;
  usage(): Usage;
  /** Waits until it is idle, or `maxMs`. */
  idle(maxMs: number): Promise<Usage>;
}

/** One run of the load generator on one store. */
export interface Load {
  readonly outcomes: readonly Outcome[];
  /** CPU of the measured part, including the work that the store deferred. */
  readonly cpuSeconds: number;
  readonly mainThreadSeconds: number;
  readonly after: Usage;
}

/** Runs the generator. Failures are in the outcomes. Throws only if the generator prints nothing. */
export async function runLoad(store: LoadTarget, args: readonly string[], options: LoadOptions = {}): Promise<Load> {
  const maxSeconds = options.maxSeconds ?? LOAD_MAX_S;
  const flags = ['--target', store.target, '--pause', '--timeout', `${maxSeconds}s`, ...args];
  const child = spawn(loadgen(), flags, { stdio: ['pipe', 'pipe', 'pipe'] });
  const kill = (): void => void child.kill('SIGKILL');
  const timer = setTimeout(kill, maxSeconds * 1000 + KILL_AFTER_MS);
  process.once('exit', kill);
  const closed = once(child, 'close');
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(0, 2_000);
  });
  const outcomes: Outcome[] = [];
  let before = store.usage();
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      if (line === '{"prepared":true}') {
        // Work that the preparation deferred does not count for the measured part.
        before = await store.idle(IDLE_MAX_MS);
        await options.onPrepared?.();
        child.stdin.end('\n');
        continue;
      }
      const outcome = parseOutcome(line);
      if (outcome === undefined) continue;
      outcomes.push(outcome);
      options.onOutcome?.(outcome);
    }
    await closed;
  } finally {
    clearTimeout(timer);
    process.removeListener('exit', kill);
    kill();
  }
  if (outcomes.length === 0) throw new Error(`the load generator said nothing: ${args.join(' ')}\n${errors}`);
  const after = await store.idle(IDLE_MAX_MS);
  return {
    outcomes,
    cpuSeconds: after.cpuSeconds - before.cpuSeconds,
    mainThreadSeconds: after.mainThreadSeconds - before.mainThreadSeconds,
    after,
  };
}

/** As runLoad, for a load with one outcome. */
export async function runOne(
  store: LoadTarget,
  args: readonly string[],
  options?: LoadOptions,
): Promise<Load & { readonly outcome: Outcome }> {
  const load = await runLoad(store, args, options);
  const outcome = load.outcomes.at(-1);
  if (outcome === undefined) throw new Error('no outcome');
  return { ...load, outcome };
}
