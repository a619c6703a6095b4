import { type Clock, type LogPosition, logPosition } from '@engram/core';
import type { Snapshot } from '@engram/tikv-client';
import { corrupt, type LogSource } from './log-source.ts';

// What a member needs of the log, as it says itself now and then: the position (u64) before which it will not read, and how
// often it has said something (u64), so that a silent one is told from one that makes no progress. Little endian.

const BYTES = 16;

export interface MemberNeedsOptions {
  readonly source: LogSource;
  /** Undefined: this node is no member, and holds nothing up. */
  readonly member: bigint | undefined;
  readonly clock: Clock;
  /** Where its count goes on: not one that this member has used lately. */
  readonly firstBeat: number;
  /** How long a member may be silent before it no longer holds a trim up. */
  readonly silentMaxMs: number;
}

export interface Said {
  /** It will not read the log before this again. */
  readonly from: LogPosition;
  /** How often it has said something. */
  readonly beat: bigint;
}

interface Heard {
  readonly beat: bigint;
  readonly sinceMs: number;
}

/** Where the log must begin for all members that live. No clocks are compared: silence is measured by who listens. */
export class MemberNeeds {
  readonly #options: MemberNeedsOptions;
  #beat: number;
  readonly #heard = new Map<bigint, Heard>();

  constructor(options: MemberNeedsOptions) {
    this.#options = options;
    this.#beat = options.firstBeat;
  }

  /** Says what this member needs. */
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
    // What became of it does not matter: it is said again soon.
    await txn.commitOnePhase(call);
  }

  /** Undefined: nobody said anything, or all are silent. Who was never heard counts as alive from now on. */
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

  /** What each member has said last, alive or not. */
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
