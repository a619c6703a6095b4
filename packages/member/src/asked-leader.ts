import { type Clock, type Epoch, SequenceRing } from '@engram/core';
import type { KnownLeader, Leader } from './known-leader.ts';
import { PeerError, type Peers } from './peers.ts';

/** A call past its deadline is found at most this much later. */
const LOOK_MS = 500;
const WAITING_MIN = 64;

interface Asked {
  readonly epoch: Epoch;
  readonly deadlineMs: number;
  readonly reject: (error: PeerError) => void;
}

/**
 * Calls that wait for a leader's answer. A connection may stand for seconds to a process that is stopped or to a host that
 * is gone. So a call is lost when a leader of a later epoch is known, or when its deadline has passed. The outcome of a
 * lost call is not known, and a late answer is dropped.
 */
export class AskedLeader {
  readonly #peers: Peers;
  readonly #leader: KnownLeader;
  readonly #clock: Clock;
  readonly #waiting = new SequenceRing<Asked>(WAITING_MIN);
  #looking = false;

  constructor(peers: Peers, leader: KnownLeader, clock: Clock) {
    this.#peers = peers;
    this.#leader = leader;
    this.#clock = clock;
    leader.onChange(() => this.#leaderChanged());
  }

  /** As `Peers.call`. Also `lost` if a leader of a later epoch is known, or if there is no answer by `deadlineMs`. */
  call(
    { memberId, epoch }: Leader,
    request: Uint8Array,
    deadlineMs: number,
    signal?: AbortSignal,
  ): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      const number = this.#waiting.next;
      this.#waiting.put(number, { epoch, deadlineMs, reject });
      this.#lookLater();
      this.#peers.call(memberId, request, signal).then(
        (answer) => {
          this.#waiting.remove(number);
          resolve(answer);
        },
        (error: unknown) => {
          this.#waiting.remove(number);
          reject(error);
        },
      );
    });
  }

  #leaderChanged(): void {
    const { current } = this.#leader;
    if (current !== undefined) this.#lose(({ epoch }) => epoch < current.epoch, 'another member leads');
  }

  /** One timer for all calls: most calls are answered long before their deadline. */
  #lookLater(): void {
    if (this.#looking) return;
    this.#looking = true;
    this.#clock.after(LOOK_MS, () => {
      this.#looking = false;
      const nowMs = this.#clock.nowMs();
      this.#lose(({ deadlineMs }) => deadlineMs <= nowMs, 'the leader has not answered in time');
      if (!this.#waiting.isEmpty) this.#lookLater();
    });
  }

  #lose(isLost: (asked: Asked) => boolean, why: string): void {
    this.#waiting.removeIf((asked) => {
      if (!isLost(asked)) return false;
      asked.reject(new PeerError('lost', why));
      return true;
    });
  }
}
