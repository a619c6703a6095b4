import { type Clock, type LogPosition, logPosition } from '@engram/core';
import type { Snapshot } from '@engram/tikv-client';
import { corrupt, type LogSource } from './log-source.ts';

// What a member needs of the log, as the member itself reports from time to time: the position (u64) before which it will not
// read, and the number of its report (u64), which tells a silent member from one that makes no progress. Little endian.

const BYTES = 16;

export interface MemberNeedsOptions {
  readonly source: LogSource;
  /** Undefined: this node is no member, and never delays a trim. */
  readonly member: bigint | undefined;
  readonly clock: Clock;
  /** Its reports are numbered from here on. The member must not have used these numbers lately. */
  readonly firstBeat: number;
  /** How long a member may be silent before it no longer delays a trim. */
  readonly silentMaxMs: number;
}

export interface Said {
  /** The member will not read the log before this position again. */
  readonly from: LogPosition;
  /** The number of the report. */
  readonly beat: bigint;
}

interface Heard {
  readonly beat: bigint;
  readonly sinceMs: number;
}

/** Where the log must begin for all live members. Each node measures silence by its own clock, so no clocks are compared. */
export class MemberNeeds {
  readonly #options: MemberNeedsOptions;
  #beat: number;
  readonly #heard = new Map<bigint, Heard>();

  constructor(options: MemberNeedsOptions) {
    this.#options = options;
    this.#beat = options.firstBeat;
  }

  /** Reports what this member needs. */
  async say(from: LogPosition, signal: AbortSignal): Promise<void> {
    const { source, member } = this.#options;
    if (member === undefined) return;
    this.#beat += 1;
    const value = new Uint8Array(BYTES);
    const view = new DataView(value.buffer);
    view.setBigUint64(0, BigInt(from), true);
    view.setBigUint64(8, BigInt(this.#beat), true);
    const call = { signal, timeoutMs: source.timeoutMs };
    const txn = await source.client.begin(call);
    txn.put(source.keys.need(member), value);
    // The outcome does not matter, because the member reports again soon.
    await txn.commitOnePhase(call);
  }

  /** Undefined if no member reported, or all are silent. A member whose first report is seen now counts as live from now on. */
  async lowest(signal: AbortSignal): Promise<LogPosition | undefined> {
    const { source, clock, silentMaxMs } = this.#options;
    const snapshot = await source.client.snapshot({ signal, timeoutMs: source.timeoutMs });
    const nowMs = clock.nowMs();
    let lowest: LogPosition | undefined;
    for (const [member, { from, beat }] of await MemberNeeds.all(source, snapshot, signal)) {
      const heard = this.#heard.get(member);
      if (heard?.beat !== beat) this.#heard.set(member, { beat, sinceMs: nowMs });
      else if (nowMs - heard.sinceMs > silentMaxMs) continue;
      if (lowest === undefined || from < lowest) lowest = from;
    }
    return lowest;
  }

  /** The last report of each member, live or not. */
  static async all(source: LogSource, snapshot: Snapshot, signal: AbortSignal): Promise<ReadonlyMap<bigint, Said>> {
    const { start, end } = source.keys.needs;
    const said = new Map<bigint, Said>();
    for await (const { key, value } of snapshot.scan(start, end, { signal, timeoutMs: source.timeoutMs })) {
      const member = source.keys.memberOf(key);
      if (value.length !== BYTES) throw corrupt(source, `what member ${member.toString(16)} needs is damaged`);
      const view = new DataView(value.buffer, value.byteOffset, value.byteLength);
      said.set(member, { from: logPosition(Number(view.getBigUint64(0, true))), beat: view.getBigUint64(8, true) });
    }
    return said;
  }
}
