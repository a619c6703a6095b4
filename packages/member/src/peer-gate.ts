import type { Clock, Logger, LogPosition } from '@engram/core';
import { type ElectionDriver, memberId, memberOf } from '@engram/election';
import type { LogBatch } from '@engram/storage';
import type { CommittedFeed } from './committed-feed.ts';
import * as peerpb from './gen/peerpb.ts';
import type { LeaderCalls } from './leader-calls.ts';
import type { PeerAdmission, PeerCaller, PeerService, Speaker } from './peers.ts';

export interface PeerGateOptions {
  readonly driver: ElectionDriver;
  readonly calls: LeaderCalls;
  readonly feed: CommittedFeed;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** After so many election timeouts without a leader, a member that the list lacks may lead, or may need this one's vote. */
const LEADERLESS_TIMEOUTS = 10;
/** A member whose messages are refused is logged at most so often. */
const SAID_EVERY_MS = 60_000;
/** Members whose refusals are remembered, to say each once: more than a cluster has. */
const SAID_MAX = 64;

/** What this member does for the others. It decides what each may ask, and says once what it refuses. */
export class PeerGate implements PeerService {
  readonly #options: PeerGateOptions;
  readonly #saidMs = new Map<bigint, number>();

  constructor(options: PeerGateOptions) {
    this.#options = options;
  }

  admission(id: bigint): PeerAdmission {
    const { driver } = this.#options;
    if (id === 0n || id === driver.view.self) return 'unknown';
    const standing = driver.standingOf(memberId(id));
    return standing === 'unknown' && driver.leaderlessTimeouts > LEADERLESS_TIMEOUTS ? 'asking' : standing;
  }

  message(bytes: Uint8Array, { member, dialed }: Speaker): string | undefined {
    const fault = this.#options.driver.receive(bytes, { member: memberId(member), dialed });
    if (fault !== undefined) this.#say(member, fault);
    return fault;
  }

  /** Who is no member gets the answer of a member that does not lead: nothing was done, and nothing is told. */
  async call(request: Uint8Array, caller: PeerCaller): Promise<Uint8Array> {
    if (this.admission(caller.member) !== 'member') return peerpb.encodeAnswer({ error: 'NotLeader' });
    return this.#options.calls.call(request, caller);
  }

  follow(from: LogPosition, signal: AbortSignal): AsyncIterable<LogBatch> {
    return this.#options.feed.follow(from, signal);
  }

  connected(id: bigint): void {
    this.#options.driver.peerConnected(memberId(id));
  }

  disconnected(id: bigint): void {
    this.#options.driver.peerDisconnected(memberId(id));
  }

  gone(id: bigint): void {
    this.#options.driver.peerGone(memberId(id));
  }

  #say(id: bigint, error: string): void {
    const { driver, clock, logger } = this.#options;
    const nowMs = clock.nowMs();
    if (nowMs - (this.#saidMs.get(id) ?? Number.NEGATIVE_INFINITY) < SAID_EVERY_MS) return;
    if (this.#saidMs.size >= SAID_MAX) this.#saidMs.clear();
    this.#saidMs.set(id, nowMs);
    const name = memberOf(driver.view.cluster, memberId(id))?.name;
    logger.warn({ member: id.toString(16), name, error }, 'refused a message of a member');
  }
}
