import { nodeItself } from '@engram/backend';
import type { LogPosition } from '@engram/core';
import type { LogBatch } from '@engram/storage';
import type { LeaderCalls } from './leader-calls.ts';
import { PeerError, type Peers } from './peers.ts';

/**
 * The other members, and this one: while a call waits for a leader, this member may become the leader. Like any member it
 * answers once it serves.
 */
export class LoopbackPeers implements Peers {
  readonly #self: bigint;
  readonly #others: Peers;
  #served: Pick<LeaderCalls, 'call'> | undefined;

  constructor(self: bigint, others: Peers) {
    this.#self = self;
    this.#others = others;
  }

  /** This member's calls of itself go here from now on. */
  serve(calls: Pick<LeaderCalls, 'call'>): void {
    this.#served = calls;
  }

  call(to: bigint, request: Uint8Array, signal?: AbortSignal): Promise<Uint8Array> {
    if (to !== this.#self) return this.#others.call(to, request, signal);
    const caller = { member: to, signal: signal ?? nodeItself.signal };
    return (
      this.#served?.call(request, caller) ?? Promise.reject(new PeerError('unsent', 'this member does not serve yet'))
    );
  }

  follow(to: bigint, from: LogPosition, signal: AbortSignal): AsyncIterable<LogBatch> {
    return this.#others.follow(to, from, signal);
  }
}
