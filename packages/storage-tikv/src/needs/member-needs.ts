import { type Clock, type LogPosition, logPosition } from '@engram/core';
import type { LogHolder } from '@engram/storage';
import type { Snapshot } from '@engram/tikv-client';
import type { NeedKey } from '../format/log-keys.ts';
import { corrupt, type LogSource } from '../log/log-source.ts';

// What a process of a member needs of the log, as it reports itself from time to time: the position (u64) before which it will
// not read, and the number of its report (u64), which tells a silent process from one that makes no progress. Little endian.

const BYTES = 16;
/** A process deletes the report of one before it that was silent for this part of the time for which others wait for it. */
const PREDECESSOR_PART = 10;
/** How many reports of ended processes one look deletes. */
const FORGETS_MAX = 16;

export interface MemberNeedsOptions {
  readonly source: LogSource;
  /** Undefined: this node is no member, and never delays a trim. */
  readonly member: bigint | undefined;
  /** The number of this opened storage, not 0. No other process of the member has the same. */
  readonly process: bigint;
  readonly clock: Clock;
  /** How long a member may be silent before it no longer delays a trim. */
  readonly silentMaxMs: number;
  /** How long a member that is not silent may hold the log back. */
  readonly holdMaxMs: number;
}

export interface Said extends NeedKey {
  /** The process will not read the log before this position again. */
  readonly from: LogPosition;
  /** The number of the report. */
  readonly beat: bigint;
}

interface Heard {
  readonly beat: bigint;
  readonly sinceMs: number;
}

/**
 * Where the log must begin for all live members. Each node measures times by its own clock, so no clocks are compared.
 *
 * Each process reports for itself: a process that starts while another one of its member lives needs more than that one. A
 * member needs what those of its processes need that are not silent. A process deletes what those before it have reported,
 * once they are silent. What is left of others that have ended, the node that trims deletes.
 *
 * Nobody holds the log for ever. A member that is silent for long does not count. Neither does one that has reported for long
 * without coming up to the others: it may live and make no progress, make too little, or start again and again. It
 * counts again once it needs no more than the others. Until then it may find that the log was trimmed, and start from the image.
 */
export class MemberNeeds {
  readonly #options: MemberNeedsOptions;
  #beat = 0;
  /** The reports of this member's processes at the start of this one, by process. */
  readonly #predecessors = new Map<bigint, bigint>();
  #predecessorsAtMs = 0;
  #heard: ReadonlyMap<string, Heard> = new Map();
  /** Since when each member needs what others do not. */
  #holdsSinceMs: ReadonlyMap<bigint, number> = new Map();
  #holders: readonly LogHolder[] = [];

  constructor(options: MemberNeedsOptions) {
    this.#options = options;
  }

  /** A start calls it once, before it reports. */
  async begin(signal: AbortSignal): Promise<void> {
    const { source, member, clock } = this.#options;
    if (member === undefined) return;
    const snapshot = await source.client.snapshot({ signal, timeoutMs: source.timeoutMs });
    for (const { process, beat } of await said(source, snapshot, source.keys.needsOf(member), signal)) {
      this.#predecessors.set(process, beat);
    }
    this.#predecessorsAtMs = clock.nowMs();
  }

  /** Reports what this process needs. */
  async say(from: LogPosition, signal: AbortSignal): Promise<void> {
    const { source, member, process } = this.#options;
    if (member === undefined) return;
    this.#beat += 1;
    const value = new Uint8Array(BYTES);
    const view = new DataView(value.buffer);
    view.setBigUint64(0, BigInt(from), true);
    view.setBigUint64(8, BigInt(this.#beat), true);
    const call = { signal, timeoutMs: source.timeoutMs };
    const txn = await source.client.begin(call);
    txn.put(source.keys.need({ member, process }), value);
    // The outcome does not matter, because the process reports again soon.
    await txn.commitOnePhase(call);
    await this.#succeed(member, signal);
  }

  /** Deletes the reports of the processes before this one that have been silent since the last look. */
  async #succeed(member: bigint, signal: AbortSignal): Promise<void> {
    const { clock, silentMaxMs } = this.#options;
    const nowMs = clock.nowMs();
    if (this.#predecessors.size === 0 || nowMs - this.#predecessorsAtMs < silentMaxMs / PREDECESSOR_PART) return;
    this.#predecessorsAtMs = nowMs;
    for (const [process, beat] of [...this.#predecessors].slice(0, FORGETS_MAX)) {
      const newer = await this.#forget({ member, process, beat }, signal);
      // Those of which nothing is known yet come first at the next look.
      this.#predecessors.delete(process);
      if (newer !== undefined) this.#predecessors.set(process, newer);
    }
  }

  /** Deletes a report unless its process has reported again. Returns the number of that report. */
  async #forget({ beat, ...key }: NeedKey & Pick<Said, 'beat'>, signal: AbortSignal): Promise<bigint | undefined> {
    const { source } = this.#options;
    const call = { signal, timeoutMs: source.timeoutMs };
    const name = source.keys.need(key);
    const txn = await source.client.begin(call);
    const value = await txn.get(name, call);
    if (value === undefined) return undefined;
    const found = parse(source, key, value).beat;
    if (found !== beat) return found;
    txn.delete(name);
    await txn.commitOnePhase(call);
    return undefined;
  }

  /**
   * Undefined if no member reported, or none counts. `wanted`: where the log shall begin, or an image ends. A process whose
   * first report is seen now counts as live from now on, and its member holds the log from now on.
   */
  async lowest(wanted: LogPosition, signal: AbortSignal): Promise<LogPosition | undefined> {
    const { source, clock, silentMaxMs, holdMaxMs } = this.#options;
    const snapshot = await source.client.snapshot({ signal, timeoutMs: source.timeoutMs });
    const reports = await MemberNeeds.all(source, snapshot, signal);
    const nowMs = clock.nowMs();
    const heard = new Map<string, Heard>();
    const members = new Map<bigint, { readonly live: Said[]; readonly silent: Said[] }>();
    for (const report of reports) {
      const name = `${report.member}/${report.process}`;
      const before = this.#heard.get(name);
      const sinceMs = before?.beat === report.beat ? before.sinceMs : nowMs;
      heard.set(name, { beat: report.beat, sinceMs });
      const { live, silent } = members.get(report.member) ?? { live: [], silent: [] };
      (nowMs - sinceMs > silentMaxMs ? silent : live).push(report);
      members.set(report.member, { live, silent });
    }
    const holdsSinceMs = new Map<bigint, number>();
    const holders: LogHolder[] = [];
    const ended: Said[] = [];
    let lowest: LogPosition | undefined;
    for (const [member, { live, silent }] of members) {
      const from = lowestOf(live.length > 0 ? live : silent);
      const sinceMs = from >= wanted ? undefined : (this.#holdsSinceMs.get(member) ?? nowMs);
      if (sinceMs !== undefined) holdsSinceMs.set(member, sinceMs);
      if (live.length === 0) continue;
      ended.push(...silent);
      const heldMs = sinceMs === undefined ? 0 : nowMs - sinceMs;
      const leftBehind = heldMs > holdMaxMs;
      if (sinceMs !== undefined) holders.push({ member, from, heldMs, leftBehind });
      if (!leftBehind && (lowest === undefined || from < lowest)) lowest = from;
    }
    this.#heard = heard;
    this.#holdsSinceMs = holdsSinceMs;
    this.#holders = holders;
    for (const report of ended.slice(0, FORGETS_MAX)) await this.#forget(report, signal);
    return lowest;
  }

  /** The members that are not silent and need what the others do not, as of the last `lowest`. */
  get holders(): readonly LogHolder[] {
    return this.#holders;
  }

  /** The last report of each process of each member, live or not. */
  static all(source: LogSource, snapshot: Snapshot, signal: AbortSignal): Promise<readonly Said[]> {
    return said(source, snapshot, source.keys.needs, signal);
  }
}

async function said(
  source: LogSource,
  snapshot: Snapshot,
  { start, end }: { readonly start: Uint8Array; readonly end: Uint8Array },
  signal: AbortSignal,
): Promise<readonly Said[]> {
  const found: Said[] = [];
  for await (const { key, value } of snapshot.scan(start, end, { signal, timeoutMs: source.timeoutMs })) {
    const named = source.keys.parseNeed(key);
    if (named === undefined) throw corrupt(source, `there is a key that says what no member needs`);
    found.push(parse(source, named, value));
  }
  return found;
}

function parse(source: LogSource, { member, process }: NeedKey, value: Uint8Array): Said {
  if (value.length !== BYTES) throw corrupt(source, `what member ${member.toString(16)} needs is damaged`);
  const view = new DataView(value.buffer, value.byteOffset, value.byteLength);
  const from = logPosition(Number(view.getBigUint64(0, true)));
  return { member, process, from, beat: view.getBigUint64(8, true) };
}

const lowestOf = (reports: readonly Said[]): LogPosition => logPosition(Math.min(...reports.map(({ from }) => from)));
