import { type Clock, type LogPosition, logPosition } from '@engram/core';
import type { LogHolder } from '@engram/storage';
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
  /** How long a member that is not silent may hold the log back. */
  readonly holdMaxMs: number;
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
  /** Since when the member needs what others do not. Undefined if it needs nothing else. */
  readonly holdsSinceMs: number | undefined;
}

/**
 * Where the log must begin for all live members. Each node measures times by its own clock, so no clocks are compared.
 *
 * Nobody holds the log for ever. A member that is silent for long does not count. Neither does one that has reported for long
 * without coming up to the others: it may live and make no progress, make too little, or start again and again. It
 * counts again once it needs no more than the others. Until then it may find that the log was trimmed, and start from the image.
 */
export class MemberNeeds {
  readonly #options: MemberNeedsOptions;
  #beat: number;
  #heard: ReadonlyMap<bigint, Heard> = new Map();
  #holders: readonly LogHolder[] = [];

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

  /**
   * Undefined if no member reported, or none counts. `wanted`: where the log shall begin, or an image ends. A member whose
   * first report is seen now counts as live from now on, and holds the log from now on.
   */
  async lowest(wanted: LogPosition, signal: AbortSignal): Promise<LogPosition | undefined> {
    const { source, clock, silentMaxMs, holdMaxMs } = this.#options;
    const snapshot = await source.client.snapshot({ signal, timeoutMs: source.timeoutMs });
    const said = await MemberNeeds.all(source, snapshot, signal);
    const nowMs = clock.nowMs();
    const heard = new Map<bigint, Heard>();
    const holders: LogHolder[] = [];
    let lowest: LogPosition | undefined;
    for (const [member, { from, beat }] of said) {
      const before = this.#heard.get(member);
      const sinceMs = before?.beat === beat ? before.sinceMs : nowMs;
      const holdsSinceMs = from >= wanted ? undefined : (before?.holdsSinceMs ?? nowMs);
      heard.set(member, { beat, sinceMs, holdsSinceMs });
      if (nowMs - sinceMs > silentMaxMs) continue;
      const heldMs = holdsSinceMs === undefined ? 0 : nowMs - holdsSinceMs;
      const leftBehind = heldMs > holdMaxMs;
      if (holdsSinceMs !== undefined) holders.push({ member, from, heldMs, leftBehind });
      if (!leftBehind && (lowest === undefined || from < lowest)) lowest = from;
    }
    this.#heard = heard;
    this.#holders = holders;
    return lowest;
  }

  /** The members that are not silent and need what the others do not, as of the last `lowest`. */
  get holders(): readonly LogHolder[] {
    return this.#holders;
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
