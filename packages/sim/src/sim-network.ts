import type { Prng } from './prng.ts';
import type { SimHost, SimProcess } from './sim-host.ts';

/** What links do to messages. Probabilities from 0 to 1. */
export interface LinkFaults {
  readonly delayMsMin: number;
  /** Messages overtake each other where it is above the minimum. */
  readonly delayMsMax: number;
  readonly lost: number;
  readonly twice: number;
}

/** How soon a connection sends again what has not arrived, and how often. */
const RESEND_MS = 200;
const RESEND_TRIES_MAX = 50;

const CLEAN: LinkFaults = { delayMsMin: 0.1, delayMsMax: 0.1, lost: 0, twice: 0 };

/**
 * Messages between hosts, each for itself: lost, delayed, doubled and out of order as the seed has it. A cut is of one
 * direction, so that a node may hear others that do not hear it. A message reaches the process that lives on its host
 * when it arrives, or nobody.
 */
export class SimNetwork {
  readonly #random: Prng;
  readonly #cut = new Set<string>();
  readonly #muted = new Set<string>();
  faults: LinkFaults = CLEAN;

  constructor(random: Prng) {
    this.#random = random;
  }

  /** Nothing that is sent from now on arrives, in this direction. What is under way does. */
  cut(from: SimHost, to: SimHost): void {
    this.#cut.add(link(from, to));
  }

  heal(from: SimHost, to: SimHost): void {
    this.#cut.delete(link(from, to));
    this.#muted.delete(link(from, to));
  }

  /** Single messages that are sent from now on are lost, in this direction. Connections get through. */
  mute(from: SimHost, to: SimHost): void {
    this.#muted.add(link(from, to));
  }

  healAll(): void {
    this.#cut.clear();
    this.#muted.clear();
  }

  /** `arrive` gets the process that the message reaches. A dead process sends nothing. */
  send(from: SimProcess, to: SimHost, arrive: (receiver: SimProcess) => void): void {
    const way = link(from.host, to);
    if (!from.alive || this.#cut.has(way) || this.#muted.has(way) || this.#random.chance(this.faults.lost)) return;
    this.#deliver(to, arrive);
    if (this.#random.chance(this.faults.twice)) this.#deliver(to, arrive);
  }

  /**
   * As a connection sends: again and again until it arrives, for as long as its sender lives and somebody would wait.
   * `arrive` gets the process that lives there by then; undefined: none does. `givenUp`: it has not got through for so long
   * that a connection ends.
   */
  sendSurely(
    from: SimProcess,
    to: SimHost,
    arrive: (receiver: SimProcess | undefined) => void,
    givenUp?: () => void,
    tries = 0,
  ): void {
    if (!from.alive) return;
    if (tries > RESEND_TRIES_MAX) {
      givenUp?.();
      return;
    }
    if (this.isCut(from.host, to) || this.#random.chance(this.faults.lost)) {
      to.scheduler.after(RESEND_MS, () => this.sendSurely(from, to, arrive, givenUp, tries + 1));
      return;
    }
    to.scheduler.after(this.#delayMs(), () => {
      const receiver = to.process;
      if (receiver === undefined) arrive(undefined);
      else receiver.after(0, () => arrive(receiver));
    });
  }

  isCut(from: SimHost, to: SimHost): boolean {
    return this.#cut.has(link(from, to));
  }

  #deliver(to: SimHost, arrive: (receiver: SimProcess) => void): void {
    to.scheduler.after(this.#delayMs(), () => {
      const receiver = to.process;
      receiver?.after(0, () => arrive(receiver));
    });
  }

  #delayMs(): number {
    const { delayMsMin, delayMsMax } = this.faults;
    return delayMsMin + this.#random.fraction() * (delayMsMax - delayMsMin);
  }
}

const link = (from: SimHost, to: SimHost): string => `${from.name} > ${to.name}`;
