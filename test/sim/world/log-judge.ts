import type { LoggedWrite, StoreHistory } from '@engram/sim/model';
import type { LogBatch } from '@engram/storage';
import type { Judge } from '../judge/judge.ts';
import { textOf } from '../judge/write-judge.ts';
import type { Calls } from './calls.ts';

export interface LogJudgeOptions {
  readonly judge: Judge;
  readonly calls: Calls;
  readonly history: StoreHistory;
  readonly tell: (text: () => string) => void;
  /** Whether the store may have written this by itself. */
  readonly isItsOwn: (write: LoggedWrite) => boolean;
}

/** Passes durable batches to the judge, and judges the ends of leases that no client requested. */
export class LogJudge {
  readonly #options: LogJudgeOptions;

  constructor(options: LogJudgeOptions) {
    this.#options = options;
  }

  /** The batch, which was sent to the log at `sentMs`, is durable. */
  durable(batch: LogBatch, sentMs: number): void {
    const { judge, calls, tell, history, isItsOwn } = this.#options;
    for (const write of judge.logged(batch.first, batch.records)) {
      tell(() => `  durable: ${textOf(write)}`);
      const { mark } = write;
      if (mark?.kind === 'lease-grant') {
        const unknownMs = judge.writes.unknownFor(write)?.startMs;
        const fromMs = Math.min(sentMs, calls.sentMs(write) ?? sentMs, unknownMs ?? sentMs);
        judge.leases.granted(mark.id, write.next, mark.ttlSeconds, fromMs);
      } else if (mark?.kind === 'lease-revoke') {
        const span = history.leases.find(({ id, revoked }) => id === mark.id && revoked === write.next)!;
        judge.leaseEnded(write, mark.id, span.granted, sentMs);
        const asked = calls.mayExplain(write) || judge.writes.unknownFor(write) !== undefined;
        if (!asked) judge.leases.expired(span.granted, mark.id, sentMs);
      } else if (isItsOwn(write) && !calls.mayExplain(write)) judge.writes.explain(write);
    }
  }

  /** Checks that every write in the log is explained. No request may be under way. */
  settleWrites(): void {
    const { judge, isItsOwn } = this.#options;
    for (const write of judge.writes.unexplained(1)) if (isItsOwn(write)) judge.writes.explain(write);
    judge.writes.settle();
    judge.revokes.settle();
  }
}
