import {
  type CheckpointVersion,
  CheckpointWriter,
  encodeCheckpointGarbage,
  encodeCheckpointHeader,
} from '@engram/coder';
import { type Clock, EMPTY_BYTES, type Logger, type LogPosition, nextTurn, type Revision } from '@engram/core';
import type { KeyIndex, VersionSlot } from '@engram/index';
import type { Values } from '@engram/storage';
import type { ReplicatedState } from './replicated-state.ts';

/** Keys that are written before others get their turn: about a millisecond of work. */
const SLICE_KEYS = 1000;
/** Positions, likewise. */
const SLICE_GARBAGE = 16_384;

export interface CheckpointerOptions {
  readonly state: ReplicatedState;
  readonly values: Values;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The newest checkpoint there is. */
  readonly from: LogPosition;
  /** What was sequenced last: its revision, and the position that the next record takes. */
  readonly sequenced: () => { readonly revision: Revision; readonly next: LogPosition };
  /** Resolves when every record before the position is durable. */
  readonly durable: (next: LogPosition) => Promise<void>;
  readonly garbage: () => readonly LogPosition[];
}

/**
 * Images of the index, taken while writes go on: it begins at a position of the log, walks the keys in slices, and what
 * changes meanwhile comes again in the replay from that position, where it is passed over if the image has it already.
 * It becomes the newest only when everything that it may contain is durable.
 */
export class Checkpointer {
  readonly #options: CheckpointerOptions;
  #from: LogPosition;
  #run: Promise<void> | undefined;
  #closed = false;

  constructor(options: CheckpointerOptions) {
    this.#options = options;
    this.#from = options.from;
  }

  /** Replay begins here. */
  get from(): LogPosition {
    return this.#from;
  }

  get running(): boolean {
    return this.#run !== undefined;
  }

  /** One that begins after the call; where another is under way, the one after it. */
  async take(): Promise<void> {
    await this.#run;
    this.#run ??= this.#take().finally(() => {
      this.#run = undefined;
    });
    await this.#run;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#run?.catch(() => undefined);
  }

  async #take(): Promise<void> {
    const { values, clock, logger, sequenced, durable } = this.#options;
    const startMs = clock.nowMs();
    const begun = sequenced();
    const counts = { keys: 0, bytes: 0 };
    try {
      // Only then has the state taken in every record before it: what a mark or an alarm means, it means when durable.
      await durable(begun.next);
      const header = this.#header(begun);
      counts.bytes = header.length;
      await values.saveCheckpoint(begun.next, this.#chunks(header, counts));
    } catch (error) {
      if (this.#closed) return;
      throw error;
    }
    this.#from = begun.next;
    logger.info(
      {
        revision: begun.revision,
        keys: counts.keys,
        bytes: counts.bytes,
        'took-ms': Math.round(clock.nowMs() - startMs),
      },
      'saved index checkpoint',
    );
  }

  async *#chunks(header: Uint8Array, counts: { keys: number; bytes: number }): AsyncGenerator<Uint8Array> {
    const { state, clock, durable, sequenced, garbage } = this.#options;
    const count = (chunk: Uint8Array): Uint8Array => {
      counts.bytes += chunk.length;
      return chunk;
    };
    yield header;
    const writer = new CheckpointWriter();
    const full: Uint8Array[] = [];
    const visit = (key: Uint8Array, head: VersionSlot): void => {
      counts.keys += 1;
      const chunk = writer.add(key, versionsOf(state.index, head));
      if (chunk !== undefined) full.push(chunk);
    };
    for (let next: Uint8Array | undefined = EMPTY_BYTES; next !== undefined; ) {
      next = state.index.walk(next, SLICE_KEYS, visit);
      for (const chunk of full.splice(0)) yield count(chunk);
      await nextTurn(clock);
      if (this.#closed) throw new Error('the node stops');
    }
    const last = writer.finish();
    if (last !== undefined) yield count(last);
    const positions = garbage();
    for (let from = 0; from < positions.length; from += SLICE_GARBAGE) {
      yield count(encodeCheckpointGarbage(positions.slice(from, from + SLICE_GARBAGE)));
      await nextTurn(clock);
    }
    await durable(sequenced().next);
  }

  #header(begun: { readonly revision: Revision; readonly next: LogPosition }): Uint8Array {
    const { state, clock } = this.#options;
    const nowMs = clock.nowMs();
    const leases = state.lessor.list().map((id) => ({
      id,
      ttlSeconds: state.lessor.get(id)!.ttlSeconds,
      remainingSeconds: Math.ceil((state.lessor.remainingMs(id, nowMs) ?? 0) / 1000),
    }));
    return encodeCheckpointHeader({
      revision: begun.revision,
      compactRevision: state.compactRevision,
      nextPosition: begun.next,
      leases,
      alarms: [...state.alarms.values()],
    });
  }
}

/** Oldest first. */
function versionsOf(index: KeyIndex, head: VersionSlot): CheckpointVersion[] {
  const versions: CheckpointVersion[] = [];
  for (let slot = head; slot >= 0; slot = index.previous(slot)) {
    versions.push({
      createRevision: index.createRevision(slot),
      modRevision: index.modRevision(slot),
      sub: index.sub(slot),
      version: index.version(slot),
      lease: index.lease(slot),
      tombstone: index.isTombstone(slot),
      position: index.position(slot),
      bytes: index.bytes(slot),
    });
  }
  return versions.reverse();
}
