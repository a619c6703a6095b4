import type { KeyAccess } from '@engram/auth';
import { assert, EngramError, type EventGroup, type KeyRange, type Revision } from '@engram/core';
import type { PureJob } from '@engram/loop';
import type { Watcher, WatchSink, WatchStream } from '@engram/watch-hub';
import type { RightsHolder } from '../auth/watch-rights.ts';
import type { RpcCaller } from '../rpc-caller.ts';
import type { ServiceParts } from '../service-parts.ts';
import type { StreamOfWatchers } from '../watcher-shares.ts';

/** Consecutive revisions with changes in a range. `headerRevision` is the store's revision, never below those. */
export interface Offer {
  readonly groups: readonly EventGroup[];
  readonly headerRevision: Revision;
}

export interface WatchedRange {
  readonly range: KeyRange;
  readonly startRevision: Revision;
  readonly noPut?: boolean;
  readonly noDelete?: boolean;
}

/**
 * `left`: the call is over. `denied`: its user may not read the range any more. `compacted`: history that is needed is gone. `lost`:
 * history could not be read.
 */
export type WatchEnd = 'left' | 'denied' | 'compacted' | 'lost';

/**
 * The changes of a range, for a call that waits for them: a watcher of this node's own hub. At most one offer is held; the hub keeps the
 * others until it is taken. To be disposed by its owner. Its memory counts in the share of its client.
 */
export class RangeWatch implements WatchSink, RightsHolder, Disposable {
  readonly #parts: ServiceParts;
  readonly #caller: RpcCaller;
  readonly #range: KeyRange;
  readonly #watchers: StreamOfWatchers;
  readonly #stream: WatchStream;
  readonly #left = (): void => this.#over('left');
  #offer: Offer | undefined;
  #end: WatchEnd | undefined;
  #wake = (): void => {};

  /** `besideBytes`: what the call holds while it waits. Errors: TooManyRequests, if the client has no room; Stopped. */
  constructor(parts: ServiceParts, caller: RpcCaller, { range, ...watched }: WatchedRange, besideBytes: number) {
    this.#parts = parts;
    this.#caller = caller;
    this.#range = range;
    this.#watchers = parts.watcherShares.open(caller.call.peer);
    this.#stream = parts.store.watchHub.openStream(this, caller.client);
    try {
      if (!this.#watchers.mayAdd()) throw new EngramError('TooManyRequests');
      this.#watchers.hold(besideBytes);
      this.#start(watched);
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  #start({ startRevision, noPut = false, noDelete = false }: Omit<WatchedRange, 'range'>): void {
    const outcome = this.#stream.create({
      range: this.#range,
      startRevision,
      noPut,
      noDelete,
      prevKv: false,
      progressNotify: false,
      fragment: false,
      watchId: 0,
    });
    assert(outcome.kind === 'created', 'a range that cannot be watched');
    this.#watchers.add(outcome.watcher);
    this.#parts.watchRights.add(this);
    const { signal } = this.#caller;
    signal.addEventListener('abort', this.#left, { once: true });
    if (signal.aborted) this.#over('left');
    else this.#stream.start(outcome.watcher);
  }

  /** The next changes. Undefined: there will be none, see `end`. */
  async next(): Promise<Offer | undefined> {
    while (this.#offer === undefined && this.#end === undefined) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const offer = this.#offer;
    if (offer === undefined) return undefined;
    this.#offer = undefined;
    this.#stream.drained();
    return offer;
  }

  get end(): WatchEnd | undefined {
    return this.#end;
  }

  events(_watcher: Watcher, groups: readonly EventGroup[], headerRevision: Revision): boolean {
    // After its end the hub knows the watcher until the owner disposes of it, in a later microtask.
    if (this.#end !== undefined) return false;
    if (this.#offer !== undefined || this.#parts.watchRights.holdsBack(this)) return false;
    this.#offer = { groups, headerRevision };
    this.#wake();
    return true;
  }

  compacted(): void {
    this.#over('compacted');
  }

  progress(): void {}

  failed(cause: unknown): void {
    const { logger } = this.#parts;
    logger.error({ cause: String(cause) }, 'a call that waits for changes has failed: history could not be read');
    this.#over('lost');
  }

  identified(): Promise<unknown> | undefined {
    const { user, call } = this.#caller;
    return user === '' ? this.#parts.auth.verified(call) : undefined;
  }

  user(): string {
    const { user, call } = this.#caller;
    return user === '' ? (this.#parts.auth.identify(call)?.user ?? '') : user;
  }

  // biome-ignore lint/correctness/useYield: one question, and its caller gives way between two of them.
  *recheck(access: KeyAccess): PureJob<void> {
    if (access.watch(this.#range) !== undefined) this.#over('denied');
  }

  released(): void {
    if (this.#offer === undefined) this.#stream.drained();
  }

  [Symbol.dispose](): void {
    this.#caller.signal.removeEventListener('abort', this.#left);
    this.#parts.watchRights.remove(this);
    this.#stream.close();
    this.#watchers.close();
  }

  #over(end: WatchEnd): void {
    if (end === 'denied') this.#offer = undefined;
    this.#end ??= end;
    this.#wake();
  }
}
