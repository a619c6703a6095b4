import type { Finding } from './judge/finding.ts';
import type { Cut } from './plan/plan.ts';
import type { Simulation } from './simulation.ts';

export interface Shrunk {
  readonly cut: Cut;
  readonly finding: Finding;
  /** The number of runs that the search took. */
  readonly runs: number;
}

/** Bound of the search for a shorter plan, which only serves readers. */
const RUNS_MAX = 400;

/**
 * Searches for a shorter plan of the same seed with a finding of the same kind. Leaves out steps, by halves, quarters
 * and so on, and sets settings to those of production. Leaving out a step changes the random choices after it, so the
 * result may not be minimal.
 */
export async function shrink(
  simulation: Simulation,
  seed: number,
  found: Finding,
  runsMax = RUNS_MAX,
): Promise<Shrunk> {
  const { run, plain: production } = simulation;
  const plan = simulation.makePlan(seed);
  let keep: readonly number[] = plan.steps.map(({ id }) => id);
  let plain: readonly string[] = [];
  let finding = found;
  let runs = 0;

  /** Returns true and adopts the plan if it still has a finding of the same kind. */
  const attempt = async (steps: readonly number[], settings: readonly string[]): Promise<boolean> => {
    if (runs >= runsMax) return false;
    runs += 1;
    const outcome = await run(seed, { cut: { keep: steps, plain: settings } });
    if (outcome.finding?.kind !== found.kind) return false;
    [keep, plain, finding] = [steps, settings, outcome.finding];
    return true;
  };

  const shorten = async (): Promise<void> => {
    for (let size = Math.ceil(keep.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
      for (let from = keep.length; from > 0; from -= size) {
        const start = Math.max(0, from - size);
        if (keep.length > 0) await attempt([...keep.slice(0, start), ...keep.slice(from)], plain);
      }
    }
  };
  await shorten();
  const drawn: Readonly<Record<string, unknown>> = { ...plan.settings };
  for (const [name, value] of Object.entries(production)) {
    if (drawn[name] !== value) await attempt(keep, [...plain, name]);
  }
  for (let before = -1; before !== keep.length && runs < runsMax; ) {
    before = keep.length;
    await shorten();
  }
  return { cut: { keep, plain }, finding, runs };
}

/** The cut as arguments of `make sim`. */
export function textOfCut({ keep, plain }: Cut): string {
  const parts: string[] = [];
  if (keep !== undefined) parts.push(`KEEP=${rangesOf(keep)}`);
  if (plain !== undefined && plain.length > 0) parts.push(`PLAIN=${plain.join(',')}`);
  return parts.join(' ');
}

/** Formats 3,4,5,9 as 3-5,9. */
function rangesOf(ids: readonly number[]): string {
  const parts: string[] = [];
  for (let at = 0; at < ids.length; ) {
    let end = at;
    while (ids[end + 1] === ids[end]! + 1) end += 1;
    parts.push(end === at ? `${ids[at]}` : `${ids[at]}-${ids[end]}`);
    at = end + 1;
  }
  return parts.length === 0 ? 'none' : parts.join(',');
}

/** The inverse of `textOfCut`, part by part. */
export function readCut(keep: string | undefined, plain: string | undefined): Cut {
  return {
    ...(keep === undefined ? {} : { keep: keep === 'none' ? [] : keep.split(',').flatMap(idsOf) }),
    ...(plain === undefined ? {} : { plain: plain.split(',') }),
  };
}

function idsOf(part: string): number[] {
  const match = /^(\d+)(?:-(\d+))?$/.exec(part);
  if (match === null) throw new Error(`KEEP has no list of steps, as in 3-5,9: ${part}`);
  const from = Number(match[1]);
  const to = Number(match[2] ?? match[1]);
  return Array.from({ length: to - from + 1 }, (_, at) => from + at);
}
