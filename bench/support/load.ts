import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { type Outcome, parseOutcome } from './outcome.ts';
import { loadgen } from './programs.ts';
import type { Store } from './store.ts';
import type { Usage } from './usage.ts';

/** The generator ends by itself at its own bound; this is for when it does not. */
const KILL_AFTER_MS = 20_000;
const LOAD_MAX_S = 600;

/** What some loads need beyond the defaults. */
interface LoadOptions {
  /** How long the generator may take, its preparation included. */
  readonly maxSeconds?: number;
  /** Between the preparation and the measured part. */
  readonly onPrepared?: () => Promise<void>;
  /** For each line, when it comes. */
  readonly onOutcome?: (outcome: Outcome) => void;
}
/** How long work that a store has put off is waited for, and charged. */
const IDLE_MAX_MS = 5_000;

/** One run of the load generator against one store. */
export interface Load {
  readonly outcomes: readonly Outcome[];
  /** Of the measured part, with the work that the store put off until after it. */
  readonly cpuSeconds: number;
  readonly mainThreadSeconds: number;
  readonly after: Usage;
}

/** Runs the generator; failures are in the outcomes, and only a generator that says nothing throws. */
export async function runLoad(store: Store, args: readonly string[], options: LoadOptions = {}): Promise<Load> {
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
        // What the preparation has put off is not the measured part's.
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

/** As runLoad, where there is one outcome. */
export async function runOne(
  store: Store,
  args: readonly string[],
  options?: LoadOptions,
): Promise<Load & { readonly outcome: Outcome }> {
  const load = await runLoad(store, args, options);
  const outcome = load.outcomes.at(-1);
  if (outcome === undefined) throw new Error('no outcome');
  return { ...load, outcome };
}
