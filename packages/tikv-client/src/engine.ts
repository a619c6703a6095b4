import type { Timestamp } from '@engram/tso';
import { TikvError } from './errors.ts';
import type { SafePoint } from './gc/safe-point.ts';
import { type CallParts, RegionCalls } from './region/region-calls.ts';
import type { Call } from './runtime/call.ts';
import type { LockResolver } from './txn/lock-resolver.ts';
import { ScanBudget } from './txn/scan-budget.ts';
import type { StatusCache } from './txn/status-cache.ts';

/** What reads and transactions need beside calls to regions. */
export interface EngineParts extends CallParts {
  readonly statuses: StatusCache;
  readonly resolver: LockResolver;
  readonly safePoint: SafePoint;
}

/** The state that the parts of one client share. Its methods take store keys. */
export class Engine extends RegionCalls {
  readonly scans = new ScanBudget();
  readonly statuses: StatusCache;
  readonly resolver: LockResolver;
  readonly safePoint: SafePoint;

  constructor(parts: EngineParts) {
    super(parts);
    this.statuses = parts.statuses;
    this.resolver = parts.resolver;
    this.safePoint = parts.safePoint;
  }

  /**
   * Checks a caller's timestamp: PD must have allocated it, and it must not lie below the safe point. Undefined if the cached state
   * shows that it may be used. A promise if PD must be asked. Throws `future-timestamp`, `gc-too-early`.
   */
  checkTimestamp(timestamp: Timestamp, call: Call): Promise<void> | undefined {
    const allocated = this.checkAllocated(timestamp, call);
    if (allocated === undefined) return this.safePoint.check(timestamp, call);
    return allocated.then(() => this.safePoint.check(timestamp, call));
  }

  /** As `checkTimestamp`, without the safe point. */
  checkAllocated(timestamp: Timestamp, call: Call): Promise<void> | undefined {
    const allocated = this.pd.oracle.isAllocated(timestamp, call);
    if (allocated === true) return undefined;
    return allocated.then((known) => {
      if (!known) throw new TikvError('future-timestamp', `${timestamp} is above ${this.pd.oracle.newest}`);
    });
  }
}
