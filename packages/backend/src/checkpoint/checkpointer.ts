import { CheckpointWriter, encodeCheckpointGarbage } from '@engram/coder';
import { type Clock, EMPTY_BYTES, type Logger, type LogPosition } from '@engram/core';
import type { KeyIndex, VersionSlot } from '@engram/index';
import { type Loop, Rests, type Task } from '@engram/loop';
import type { Values } from '@engram/storage';
import { checkpointHeader } from './checkpoint-header.ts';
import type { Garbage } from './garbage.ts';
import type { ReplicatedState } from '../apply/replicated-state.ts';

const CHECKPOINT: Task = { work: 'background', caller: 'checkpoint', stage: 'checkpoint' };
/** Garbage positions of a chunk: a quarter of a millisecond of work. */
const CHUNK_POSITIONS = 4096;

export interface CheckpointerOptions {
  readonly state: ReplicatedState;
  readonly values: Values;
  readonly clock: Clock;
  readonly loop: Loop;
  readonly logger: Logger;
  /** Every record before this position is durable and has taken effect. */
  readonly applied: () => LogPosition;
  /** Is named in each checkpoint, and learns which one is the newest. */
  readonly garbage: Garbage;
}

/**
 * Takes checkpoints of the state while writes go on. Leases, alarms and marks are those of one log position, at which
 * the replay begins. The keys are walked while writes go on, so a checkpoint also has some versions that take effect
 * meanwhile. The replay from the position reads these again, and skips them. A checkpoint never has a version that
 * has not taken effect.
 */
export class Checkpointer {
  readonly #options: CheckpointerOptions;
  #run: Promise<void> | undefined;
  #closed = false;

  constructor(options: CheckpointerOptions) {
    this.#options = options;
  }

  /** Where the replay after the newest checkpoint begins. */
  get from(): LogPosition {
    return this.#options.garbage.from;
  }

  get running(): boolean {
    return this.#run !== undefined;
  }

  /** Takes a checkpoint that begins after the call. If another is under way, waits for it first. */
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
    const { values, clock, loop, logger, applied, state, garbage } = this.#options;
    const startMs = clock.nowMs();
    const from = applied();
    const { revision } = state;
    const header = await loop.run(CHECKPOINT, checkpointHeader(state, from, clock.nowMs(), loop));
    const counts = { keys: 0, bytes: header.length };
    try {
      await values.saveCheckpoint(from, this.#chunks(header, counts));
    } catch (error) {
      if (this.#closed) return;
      throw error;
    }
    garbage.cover(from);
    logger.info(
      {
        revision,
        keys: counts.keys,
        bytes: counts.bytes,
        'took-ms': Math.round(clock.nowMs() - startMs),
      },
      'saved index checkpoint',
    );
  }

  async *#chunks(header: Uint8Array, counts: { keys: number; bytes: number }): AsyncGenerator<Uint8Array> {
    const { state, loop, clock, applied, garbage } = this.#options;
    const rests = new Rests(loop, clock, CHECKPOINT);
    const count = (chunk: Uint8Array): Uint8Array => {
      counts.bytes += chunk.length;
      return chunk;
    };
    yield header;
    const writer = new CheckpointWriter();
    const full: Uint8Array[] = [];
    const { index } = state;
    const versions: VersionSlot[] = [];
    const visit = (page: Uint8Array, start: number, end: number, head: VersionSlot): number => {
      const next = applied();
      let seen = 0;
      // Only versions before `next` in the log: later ones are under way and may never be durable.
      for (let slot = head; slot >= 0; slot = index.previous(slot)) {
        seen += 1;
        if (index.position(slot) < next) versions.push(slot);
      }
      if (versions.length === 0) return seen;
      counts.keys += 1;
      writer.begin(page, start, end, versions.length);
      for (let slot = versions.pop(); slot !== undefined; slot = versions.pop()) writeVersion(writer, index, slot);
      const chunk = writer.end();
      if (chunk !== undefined) full.push(chunk);
      return seen;
    };
    for (let next: Uint8Array | undefined = EMPTY_BYTES; next !== undefined; ) {
      const begin: Uint8Array = next;
      next = loop.slice(() => index.survey(begin, Number.POSITIVE_INFINITY, visit, loop));
      for (const chunk of full.splice(0)) yield count(chunk);
      await rests.pause();
      if (this.#closed) throw new Error('the node stops');
    }
    const last = writer.finish();
    if (last !== undefined) yield count(last);
    const positions = garbage.left;
    for (let from = 0; from < positions.length; from += CHUNK_POSITIONS) {
      yield count(encodeCheckpointGarbage(positions.slice(from, from + CHUNK_POSITIONS)));
      await rests.pause();
    }
  }
}

function writeVersion(writer: CheckpointWriter, index: KeyIndex, slot: VersionSlot): void {
  writer.version(
    index.modRevision(slot),
    index.createRevision(slot),
    index.version(slot),
    index.sub(slot),
    index.lease(slot),
    index.isTombstone(slot),
    index.position(slot),
    index.bytes(slot),
  );
}
