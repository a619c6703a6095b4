import { parseArgs } from 'node:util';
import { Prng } from '@engram/sim';

export interface CampaignArguments {
  readonly positionals: readonly string[];
  readonly prng: Prng;
  /** How long faults are injected, unless there are `rounds`: each fault so often. */
  readonly seconds: number;
  readonly rounds: number | undefined;
  /** The names of the faults. */
  readonly chosen: readonly string[];
  /** The parts of the program that run. */
  readonly parts: readonly string[];
}

export interface KnownArguments {
  readonly faults: Readonly<Record<string, unknown>>;
  readonly seconds: number;
  /** Empty if the program has no parts. */
  readonly parts?: readonly string[];
}

/**
 * The arguments of this process: [positional ...] --seconds N [--rounds N] [--seed N] [--only fault,fault] [--parts part,part].
 * Prints the seed. Throws for a fault or a part that does not exist, and for what is no number.
 */
export function campaignArguments({ faults, seconds, parts = [] }: KnownArguments): CampaignArguments {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      seconds: { type: 'string', default: String(seconds) },
      rounds: { type: 'string' },
      seed: { type: 'string', default: String(Date.now() % 2 ** 32) },
      only: { type: 'string', default: Object.keys(faults).join() },
      parts: { type: 'string', default: parts.join() },
    },
  });
  console.log(`--seed ${values.seed}`);
  return {
    positionals,
    prng: new Prng(numberOf('seed', values.seed)),
    seconds: numberOf('seconds', values.seconds),
    rounds: values.rounds === undefined ? undefined : numberOf('rounds', values.rounds),
    chosen: named('fault', values.only, Object.keys(faults)),
    parts: named('part', values.parts, parts),
  };
}

function numberOf(what: string, text: string): number {
  if (!/^\d+$/.test(text)) throw new Error(`--${what} takes a number, and not "${text}"`);
  return Number(text);
}

function named(what: string, list: string, known: readonly string[]): readonly string[] {
  const names = list === '' && known.length === 0 ? [] : list.split(',');
  for (const name of names)
    if (!known.includes(name)) throw new Error(`there is no ${what} "${name}": ${known.join()}`);
  return names;
}
