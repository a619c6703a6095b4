import type { Prng } from './prng.ts';
import type { SimHost, SimProcess } from './sim-host.ts';

/** The faults of links. Probabilities are from 0 to 1. */
export interface LinkFaults {
  readonly delayMsMin: number;
  /** Above the minimum, messages overtake each other. */
  readonly delayMsMax: number;
  readonly lost: number;
  readonly twice: number;
}

/** The interval and the number of a connection's retries. */
const RESEND_MS = 200;
const RESEND_TRIES_MAX = 50;

const CLEAN: LinkFaults = { delayMsMin: 0.1, delayMsMax: 0.1, lost: 0, twice: 0 };

/**
 * Messages between hosts. Each one may be lost, delayed, doubled or reordered, as the seed decides. A cut affects one
 * direction, so a member may hear members that do not hear it. A message reaches the process that lives on the target
 * host when it arrives, if there is one.
 */
export class SimNetwork {
  readonly #random: Prng;
  readonly #cut = new Set<string>();
  readonly #muted = new Set<string>();
  faults: LinkFaults = CLEAN;

  constructor(random: Prng) {
    this.#random = random;
  }

  /** Messages sent from now on in this direction do not arrive. Messages under way do. */
  cut(from: SimHost, to: SimHost): void {
    this.#cut.add(link(from, to));
  }

  heal(from: SimHost, to: SimHost): void {
    this.#cut.delete(link(from, to));
    this.#muted.delete(link(from, to));
  }

  /** Single messages sent from now on in this direction are lost. Messages of connections arrive. */
  mute(from: SimHost, to: SimHost): void {
    this.#muted.add(link(from, to));
  }

  healAll(): void {
    this.#cut.clear();
    this.#muted.clear();
  }

  /** `arrive` is called with the receiving process. A dead process sends nothing. */
  send(from: SimProcess, to: SimHost, arrive: (receiver: SimProcess) => void): void {
    const way = link(from.host, to);
    if (!from.alive || this.#cut.has(way) || this.#muted.has(way) || this.#random.chance(this.faults.lost)) return;
    this.#deliver(to, arrive);
    if (this.#random.chance(this.faults.twice)) this.#deliver(to, arrive);
  }

  /**
   * Sends as a connection does: retries until the message arrives, as long as the sender lives. `arrive` gets the
   * process that lives there by then, or undefined if there is none. `givenUp` is called after RESEND_TRIES_MAX
   * retries, when a real connection would end.
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
