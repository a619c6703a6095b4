import { MAX_TIMESTAMP, type Timestamp } from '@engram/tso';
import { TikvError } from '../errors.ts';
import { isUnimplemented } from '../pd/pd-client.ts';
import type { CallParts } from '../region/region-calls.ts';
import { Call } from '../runtime/call.ts';

/** An older cached value must not be used: TiKV may have collected versions that a read needs. */
const TRUSTED_MS = 99_000;

type SafePointParts = Pick<CallParts, 'clock' | 'settings' | 'closing' | 'pd'>;

/**
 * The timestamp below which versions may be gone. TiKV does not refuse reads below it, but silently misses data. So every read
 * is checked here, a scan before each page.
 */
export class SafePoint {
  readonly #parts: SafePointParts;
  #value: Timestamp = 0n;
  #readMs = Number.NEGATIVE_INFINITY;
  #oldCalls = false;
  #refreshing: Promise<void> | undefined;

  constructor(parts: SafePointParts) {
    this.#parts = parts;
  }

  /** Undefined if the cached safe point allows the read. A promise if PD must be asked first. Throws `gc-too-early`. */
  check(readTs: Timestamp, call: Call): Promise<void> | undefined {
    if (readTs === MAX_TIMESTAMP) return undefined;
    const ageMs = this.#parts.clock.nowMs() - this.#readMs;
    if (ageMs > this.#parts.settings.safePointMaxAgeMs) return this.#refreshThenCheck(readTs, call);
    this.checkKnown(readTs);
    return undefined;
  }

  /** Checks against the cached safe point, without asking PD. Throws `gc-too-early`. */
  checkKnown(timestamp: Timestamp): void {
    if (timestamp < this.#value) throw new TikvError('gc-too-early', `${timestamp} is below ${this.#value}`);
  }

  async #refreshThenCheck(readTs: Timestamp, call: Call): Promise<void> {
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = undefined;
    });
    try {
      await call.wait(this.#refreshing);
    } catch (error) {
      call.check(error);
      if (this.#parts.clock.nowMs() - this.#readMs > TRUSTED_MS) throw error;
    }
    this.checkKnown(readTs);
  }

  async #refresh(): Promise<void> {
    const { clock, settings } = this.#parts;
    const call = new Call(clock, clock.nowMs() + settings.pdTimeoutMs * 2, undefined, this.#parts.closing);
    this.learn(await this.read(call));
  }

  /** Asks PD, by GetGCState if PD has it, else by GetGCSafePoint. */
  async read(call: Call): Promise<Timestamp> {
    if (!this.#oldCalls) {
      try {
        return (await this.#parts.pd.getGcState(call))?.txnSafePoint ?? 0n;
      } catch (error) {
        if (!isUnimplemented(error)) throw error;
        this.#oldCalls = true;
      }
    }
    return this.#parts.pd.getGcSafePoint(call);
  }

  learn(value: Timestamp): void {
    if (value > this.#value) this.#value = value;
    this.#readMs = this.#parts.clock.nowMs();
  }
}
