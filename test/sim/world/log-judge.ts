import type { LoggedWrite, StoreHistory } from '@engram/sim/model';
import type { LogBatch } from '@engram/storage';
import type { Judge } from '../judge/judge.ts';
import { textOf } from '../judge/write-judge.ts';
import type { Calls } from './calls.ts';

/** The end of a lease that no client's answer explains. */
interface Expiry {
  readonly write: LoggedWrite;
  readonly id: bigint;
  readonly granted: number;
  readonly sentMs: number;
}

export interface LogJudgeOptions {
  readonly judge: Judge;
  readonly calls: Calls;
  readonly history: StoreHistory;
  readonly tell: (text: () => string) => void;
  /** Whether the store may have written this by itself. */
  readonly isItsOwn: (write: LoggedWrite) => boolean;
}

/** What becomes durable: it tells the judge, and says which ends of leases nobody asked for. */
export class LogJudge {
  readonly #options: LogJudgeOptions;
  #expiries: Expiry[] = [];

  constructor(options: LogJudgeOptions) {
    this.#options = options;
  }

  /** The batch, which left for the log at `sentMs`, is durable. */
  durable(batch: LogBatch, sentMs: number): void {
    const { judge, calls, tell, history, isItsOwn } = this.#options;
    for (const write of judge.logged(batch.first, batch.records)) {
      tell(() => `  durable: ${textOf(write)}`);
      const { mark } = write;
      if (mark?.kind === 'lease-grant') {
        const unknownMs = judge.writes.unknownFor(write)?.startMs;
        const fromMs = Math.min(sentMs, calls.sentMs(write) ?? sentMs, unknownMs ?? sentMs);
        judge.leases.granted(write.next, mark.ttlSeconds, fromMs);
      } else if (mark?.kind === 'lease-revoke') {
        const span = history.leases.find(({ id, revoked }) => id === mark.id && revoked === write.next)!;
        const expiry = { write, id: mark.id, granted: span.granted, sentMs };
        judge.leaseEnded(write, span.granted, sentMs);
        if (calls.mayExplain(write) || judge.writes.unknownFor(write) !== undefined) this.#expiries.push(expiry);
        else this.#expired(expiry);
      } else if (isItsOwn(write) && !calls.mayExplain(write)) judge.writes.explain(write);
    }
  }

  #expired({ write, id, granted, sentMs }: Expiry): void {
    const { judge } = this.#options;
    judge.writes.explain(write);
    judge.leases.expired(granted, id, sentMs);
  }

  /** Nothing is under way any more: what is in the log must be explained now. */
  settleWrites(): void {
    const { judge, isItsOwn } = this.#options;
    for (const write of judge.writes.unexplained(1)) if (isItsOwn(write)) judge.writes.explain(write);
    // What ended in its time needs no client who asked for it.
    const early = this.#expiries.filter(({ granted, sentMs }) => judge.leases.isEarly(granted, sentMs));
    for (const expiry of this.#expiries.splice(0)) if (!early.includes(expiry)) this.#expired(expiry);
    judge.writes.settle((write) => {
      const expiry = early.find((one) => one.write === write);
      if (expiry !== undefined) this.#expired(expiry);
      return false;
    });
  }
}
