import { Finding } from '../judge/finding.ts';
import { Board, type Player } from './board.ts';

/** A small game: some players, each with one thing to do, over what `set` has prepared. */
export interface Game {
  readonly name: string;
  /** Prepares the board, without a choice, and returns what each player does. */
  set(board: Board): Promise<readonly Move[]>;
}

export interface Move {
  readonly player: Player;
  play(): Promise<void>;
}

/** What a schedule has chosen at one moment: the option, of how many, and how many preemptions it had made before. */
interface Choice {
  readonly option: number;
  readonly options: number;
}

export interface Explored {
  readonly game: string;
  readonly schedules: number;
  /** False if there are more schedules than were allowed. */
  readonly whole: boolean;
  /** The most requests to the stores in one schedule. */
  readonly requestsMax: number;
  readonly finding: { readonly schedule: string; readonly error: unknown } | undefined;
}

/** Virtual time in which every player must be done. */
const END_MS = 120_000;

/**
 * Plays a game in every order of its requests to the stores with at most so many preemptions: a player whose next request
 * waits is left for another. A player that waits for anything else, or is done, is left for free, and each of the others may
 * go on. Requests are let through one at a time, and each is answered before the next choice. Time passes only when no
 * request waits. Those with few preemptions come first. Ends with the first finding.
 */
export async function explore(game: Game, preemptionsMax: number, schedulesMax: number): Promise<Explored> {
  // Each round plays those of the rounds before again, which are few, and counts them once.
  for (let preemptions = 0; preemptions < preemptionsMax; preemptions += 1) {
    const explored = await exploreWith(game, preemptions, schedulesMax);
    if (explored.finding !== undefined || !explored.whole) return explored;
  }
  return await exploreWith(game, preemptionsMax, schedulesMax);
}

async function exploreWith(game: Game, preemptionsMax: number, schedulesMax: number): Promise<Explored> {
  let schedules = 0;
  let requestsMax = 0;
  let prefix: readonly number[] | undefined = [];
  while (prefix !== undefined && schedules < schedulesMax) {
    const run = await playOnce(game, prefix, preemptionsMax);
    schedules += 1;
    requestsMax = Math.max(requestsMax, run.requests);
    if (run.error !== undefined) {
      const schedule = run.choices.map(({ option }) => option).join('');
      return { game: game.name, schedules, whole: false, requestsMax, finding: { schedule, error: run.error } };
    }
    prefix = nextPrefix(run.choices);
  }
  return { game: game.name, schedules, whole: prefix === undefined, requestsMax, finding: undefined };
}

/** The choices of the next schedule, up to the first that differs. Undefined after the last one. */
function nextPrefix(choices: readonly Choice[]): readonly number[] | undefined {
  for (let at = choices.length - 1; at >= 0; at -= 1) {
    const { option, options } = choices[at]!;
    if (option + 1 < options) return [...choices.slice(0, at).map((choice) => choice.option), option + 1];
  }
  return undefined;
}

export interface Played {
  readonly choices: readonly Choice[];
  readonly requests: number;
  readonly error: unknown;
}

/** Plays one schedule: the choices of `prefix`, and the first option from there on. */
export async function playOnce(game: Game, prefix: readonly number[], preemptionsMax: number): Promise<Played> {
  const board = new Board();
  const { scheduler } = board;
  const choices: Choice[] = [];
  let requests = 0;
  let error: unknown;
  try {
    const moves = await scheduler.run(game.set(board));
    await scheduler.pass(0);
    const running = new Map<Player, Promise<void>>();
    for (const { player, play } of moves) {
      player.gate.isOpen = false;
      const played = play().then(
        () => void running.delete(player),
        (reason: unknown) => {
          running.delete(player);
          error ??= reason;
        },
      );
      running.set(player, played);
    }
    let current: Player | undefined;
    let preemptions = 0;
    const endMs = scheduler.nowMs + END_MS;
    for (;;) {
      await scheduler.pass(0);
      error ??= board.finding ?? board.stores.refusal;
      if (error !== undefined || running.size === 0) break;
      const able = [...running.keys()].filter(({ gate }) => gate.holds);
      if (able.length === 0) {
        const { nextMs } = scheduler;
        if (nextMs === undefined || nextMs > endMs) throw new Finding('hang', 'a player is never done');
        await scheduler.pass(nextMs - scheduler.nowMs);
        continue;
      }
      const goesOn = current !== undefined && able.includes(current);
      const others = able.filter((player) => player !== current);
      const options: readonly Player[] = !goesOn
        ? others
        : preemptions < preemptionsMax
          ? [current!, ...others]
          : [current!];
      let option = 0;
      if (options.length > 1) {
        option = prefix[choices.length] ?? 0;
        choices.push({ option, options: options.length });
      }
      const chosen = options[option]!;
      if (goesOn && chosen !== current) preemptions += 1;
      current = chosen;
      requests += 1;
      chosen.gate.pass();
    }
    for (const { gate } of board.players) gate.isOpen = true;
  } catch (thrown) {
    error ??= thrown;
  }
  for (const { client } of board.players) void client.close(0).catch(() => undefined);
  return { choices, requests, error };
}
