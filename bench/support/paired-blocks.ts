import type { HostedNodes } from './hosted-nodes.ts';
import { LoadBlocks } from './load-blocks.ts';
import { figure, median, medianInterval } from './statistics.ts';

export interface NamedLoad {
  readonly name: string;
  readonly load: LoadBlocks;
}

/**
 * Loads nodes of one process in blocks in turn, a block of each load in each round, and gives the CPU of a request in us, by load and round.
 * `first`: the load that is first in the first round. `deferMs`: as of HostedNodes.idleCpuUs. Throws where a request fails.
 */
export async function loadInTurn(
  nodes: HostedNodes,
  loads: readonly NamedLoad[],
  order: { readonly what: string; readonly rounds: number; readonly first: number; readonly deferMs?: number },
): Promise<readonly (readonly number[])[]> {
  const { what, rounds, deferMs } = order;
  const measured = loads.map(({ name, load }) => ({ name, load, us: [] as number[] }));
  for (let round = 0; round < rounds; round += 1) {
    // Rotated, and every other time backwards, so that none is always behind the same other.
    const first = (order.first + (round >> 1)) % measured.length;
    const inTurn = [...measured.slice(first), ...measured.slice(0, first)];
    let before = await nodes.idleCpuUs(deferMs);
    for (const { name, load, us } of round % 2 === 0 ? inTurn : inTurn.toReversed()) {
      const outcome = await load.block();
      if (outcome.failures > 0) throw new Error(`${what}, ${name}: ${outcome.firstError}`);
      const after = await nodes.idleCpuUs(deferMs);
      us.push((after - before) / outcome.requests);
      before = after;
    }
  }
  return measured.map(({ us }) => us);
}

/** How much more than another load one takes: 0.01 is one hundredth. */
export interface Cost {
  /** Than the other in the same round: the median of all rounds, and its interval of 95 %. */
  readonly more: number;
  readonly interval: { readonly least: number; readonly most: number };
  /** By the CPU of all rounds. */
  readonly ofAll: number;
  /** The median of the rounds of each start. */
  readonly starts: readonly number[];
}

/** Both by start and round, in the same order. */
export function compareBlocks(plain: readonly (readonly number[])[], own: readonly (readonly number[])[]): Cost {
  const byStart = own.map((blocks, start) => blocks.map((us, round) => us / plain[start]![round]! - 1));
  return {
    more: median(byStart.flat()),
    interval: medianInterval(byStart.flat()),
    ofAll: sum(own.flat()) / sum(plain.flat()) - 1,
    starts: byStart.map(median),
  };
}

export const COST_COLUMNS: readonly string[] = ['cpu us', 'more', 'interval', 'of all CPU', 'each start'];

/** The cells of COST_COLUMNS. Without `cost`: of what the others are compared with. */
export function costRow(own: readonly (readonly number[])[], cost: Cost | undefined): readonly string[] {
  const us = figure(median(own.flat()));
  if (cost === undefined) return [us, '', '', '', ''];
  const { more, interval, ofAll, starts } = cost;
  const range = `${percent(interval.least)} to ${percent(interval.most)}`;
  return [us, percent(more), range, percent(ofAll), starts.map(percent).join(', ')];
}

/** Writes the keys that the load gets and puts. */
export async function fillKeys(target: string, keys: number): Promise<void> {
  await using load = new LoadBlocks(target, 1, ['--op=fill', `--keys=${keys}`]);
  const { failures, firstError } = await load.block();
  if (failures > 0) throw new Error(`fill: ${firstError}`);
}

export function percent(part: number): string {
  return `${(100 * part).toFixed(1)} %`;
}

export function sum(values: readonly number[]): number {
  return values.reduce((all, one) => all + one, 0);
}
