import { type Epoch, logPosition } from '@engram/core';
import type { Prng, SimProcess } from '@engram/sim';
import type { ElectionDriver, MemberId } from '../../index.ts';

/** The log of the data that all members share: its seal, and the number of acknowledged writes. */
export class SharedLog {
  epoch = 0;
  holder: MemberId | undefined;
  writes = 0;
  /** For each epoch that sealed the log, its holder. */
  readonly sealed = new Map<number, MemberId>();

  /** False if the log is sealed with this epoch or a later one. */
  seal(epoch: Epoch, holder: MemberId): boolean {
    if (epoch <= this.epoch) return false;
    this.epoch = epoch;
    this.holder = holder;
    this.sealed.set(epoch, holder);
    return true;
  }
}

/**
 * A member's store, as far as an election sees it. It takes over in steps that take time, writes while it holds the log, and
 * takes time to step down. Its reads show the writes that it has seen.
 */
export class SimStore {
  readonly #member: MemberId;
  readonly #log: SharedLog;
  readonly #process: SimProcess;
  readonly #prng: Prng;
  driver: ElectionDriver | undefined;
  /** The epoch, from `lead` to `resigned`. */
  epoch: Epoch | undefined;
  #sealed = false;
  seen = 0;
  /** While true, no write is done, as if the log could not be reached. */
  isStuck = false;

  constructor(member: MemberId, log: SharedLog, process: SimProcess, prng: Prng) {
    this.#member = member;
    this.#log = log;
    this.#process = process;
    this.#prng = prng;
  }

  lead(epoch: Epoch): void {
    if (this.epoch !== undefined) throw new Error(`told to lead in ${epoch} while leading in ${this.epoch}`);
    this.epoch = epoch;
    void this.#takeOver(epoch);
  }

  stepDown(epoch: Epoch): void {
    if (this.epoch !== epoch) throw new Error(`told to step down from ${epoch}, but led in ${this.epoch}`);
    void this.#resignLater(epoch);
  }

  /** A client's write at this member, if it leads as far as it knows. */
  write(): void {
    if (this.epoch === undefined || !this.#sealed || this.isStuck) return;
    if (this.#log.epoch === this.epoch && this.#log.holder === this.#member) {
      this.#log.writes += 1;
      this.seen = this.#log.writes;
    } else this.#resign(this.epoch);
  }

  async #takeOver(epoch: Epoch): Promise<void> {
    await this.#process.delay(this.#prng.fraction() * 200);
    if (this.epoch !== epoch) return;
    if (this.isStuck || !this.#log.seal(epoch, this.#member)) {
      this.#resign(epoch);
      return;
    }
    await this.#process.delay(this.#prng.fraction() * 100);
    if (this.epoch !== epoch) return;
    // Reads the tail, up to the seal.
    if (this.#log.epoch !== epoch) {
      this.#resign(epoch);
      return;
    }
    this.#sealed = true;
    this.seen = this.#log.writes;
    this.driver?.announce(epoch, { segment: epoch, position: logPosition(this.seen + 1) });
  }

  async #resignLater(epoch: Epoch): Promise<void> {
    await this.#process.delay(this.#prng.fraction() * 300);
    this.#resign(epoch);
  }

  #resign(epoch: Epoch): void {
    if (this.epoch !== epoch) return;
    this.epoch = undefined;
    this.#sealed = false;
    this.driver?.resigned(epoch);
  }
}
