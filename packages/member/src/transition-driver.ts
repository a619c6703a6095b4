import type { Backend } from '@engram/backend';
import { type Clock, type Epoch, epoch, type Logger } from '@engram/core';
import type { ElectionDriver } from '@engram/election';
import type { CommittedFeed } from './committed-feed.ts';
import type { Follower } from './follower.ts';
import type { KnownLeader } from './known-leader.ts';
import type { LeaderCalls } from './leader-calls.ts';
import type { LeadershipProof } from './leadership-proof.ts';
import type { TakeoverRefusals } from './takeover-refusals.ts';
import { type TransitionEffect, type TransitionInput, Transitions } from './transitions.ts';

/** Takes the inputs of the transitions. The election begins before what its outcomes move is built, so it keeps the first. */
export class TransitionInputs {
  readonly #kept: TransitionInput[] = [];
  #take: (input: TransitionInput) => void = (input) => this.#kept.push(input);

  put(input: TransitionInput): void {
    this.#take(input);
  }

  /** From now on `take` gets the inputs, and those that were kept at once. To be called once. */
  open(take: (input: TransitionInput) => void): void {
    this.#take = take;
    for (const input of this.#kept.splice(0)) take(input);
  }
}

export interface TransitionDriverOptions {
  readonly inputs: TransitionInputs;
  readonly backend: Backend;
  readonly driver: ElectionDriver;
  readonly follower: Follower;
  readonly feed: CommittedFeed;
  readonly calls: LeaderCalls;
  readonly proof: LeadershipProof;
  readonly known: KnownLeader;
  readonly refusals: TakeoverRefusals;
  readonly clock: Clock;
  readonly logger: Logger;
  /** An invariant is broken: the node must end. */
  readonly onFatal: (error: Error) => void;
}

/** Does the effects of `Transitions`, and gives it their outcomes. The member follows from the begin. */
export class TransitionDriver {
  readonly #options: TransitionDriverOptions;
  readonly #transitions = new Transitions();
  #underWay: Promise<void> = Promise.resolve();

  constructor(options: TransitionDriverOptions) {
    this.#options = options;
    options.follower.start();
    options.inputs.open((input) => this.#take(input));
  }

  /** Begins nothing more. Resolves when no transition is under way, and nothing more is followed. */
  async close(): Promise<void> {
    this.#take({ kind: 'close' });
    let seen: Promise<void>;
    do {
      seen = this.#underWay;
      await seen;
    } while (seen !== this.#underWay);
    await this.#options.follower.stop();
  }

  /** Never throws: the election and the store call it in the middle of their work. */
  #take(input: TransitionInput): void {
    try {
      for (const effect of this.#transitions.offer(input)) this.#do(effect);
    } catch (error) {
      this.#fatal(error);
    }
  }

  #do(effect: TransitionEffect): void {
    const { proof, driver, follower } = this.#options;
    switch (effect.kind) {
      case 'end-checks':
        proof.end();
        break;
      case 'take-over':
        this.#begin(this.#takeOver(effect.epoch));
        break;
      case 'announce':
        this.#announce(effect.epoch);
        break;
      case 'end':
        if (effect.why === 'superseded') this.#logSuperseded(effect.epoch);
        this.#begin(this.#end());
        break;
      case 'follow':
        follower.start();
        break;
      case 'resign':
        driver.resigned(effect.epoch);
        break;
    }
  }

  #begin(work: Promise<void>): void {
    this.#underWay = work.catch((error: unknown) => {
      this.#fatal(error);
      this.#take({ kind: 'failed' });
    });
  }

  /** See `Backend.lead`. */
  async #takeOver(inEpoch: Epoch): Promise<void> {
    const { backend, follower, refusals, clock, logger } = this.#options;
    const startMs = clock.nowMs();
    await follower.stop();
    try {
      await backend.lead(inEpoch, () => this.#take({ kind: 'sealed' }));
    } catch (error) {
      if (!refusals.note(error, inEpoch)) throw error;
      this.#take({ kind: 'refused' });
      return;
    }
    refusals.clear();
    const tookMs = Math.round(clock.nowMs() - startMs);
    this.#take({ kind: 'led' });
    logger.info({ epoch: inEpoch, position: backend.replica.next, 'took-ms': tookMs }, 'leads');
  }

  #announce(inEpoch: Epoch): void {
    const { backend, driver, calls, known } = this.#options;
    calls.reset();
    // Meanwhile this member may have lost the leadership, and `known` may have the new leader.
    const { leader, self, term } = driver.view;
    if (leader === self && epoch(term) === inEpoch) known.set({ memberId: self, epoch: inEpoch });
    driver.announce(inEpoch, { segment: 0, position: backend.replica.next });
  }

  async #end(): Promise<void> {
    const { backend, feed, proof } = this.#options;
    feed.end();
    proof.end();
    await backend.stepDown();
    this.#take({ kind: 'ended' });
  }

  /** This member has heard neither of the later seal nor of the member that sealed. */
  #logSuperseded(inEpoch: Epoch): void {
    this.#options.logger.warn({ epoch: inEpoch }, 'a later leader holds the log: this member leads no more');
  }

  #fatal(error: unknown): void {
    this.#options.onFatal(error instanceof Error ? error : new Error('a transition has failed', { cause: error }));
  }
}
