import { assert, type Clock, type Logger, type LogPosition, logPosition, type Seal, sameSeal } from '@engram/core';
import { finish, type Loop, type Task, unhurried } from '@engram/loop';
import {
  type AppendOutcome,
  isFenced,
  type LogBatch,
  StorageCorruptError,
  StorageFencedError,
  StorageUnavailableError,
  sameBatch,
  takesOver,
  WallMarks,
} from '@engram/storage';
import {
  type BatchHeader,
  chainBehind,
  type EncodedBatch,
  encodingBatch,
  type StoredBatch,
} from '../format/batch-format.ts';
import { checkBirth } from './check-timestamps.ts';
import type { BatchLocator } from './batch-locator.ts';
import { readBatches } from './log-reader.ts';
import { corrupt, type LogSource, readImageRoot, sealOf } from './log-source.ts';
import { type LogTail, type LogView, lookAtTail, tailOfSealed } from './log-tail.ts';
import { type InsertOutcome, insertOnce } from './one-phase.ts';
import { encodeSeal, type EpochBirth, type LogMark, type SegmentOwner } from '../format/seal-record.ts';
import type { SegmentRegions } from './segment-regions.ts';
import type { Timestamp, TimestampClock, TimestampPool } from '@engram/tso';

const APPEND: Task = { work: 'durable', caller: 'log', stage: 'append' };

export interface LogWriterOptions {
  readonly source: LogSource;
  readonly timestamps: TimestampPool;
  /** PD's time, for the wall-clock marks. Each run of timestamps tells it; a takeover takes a new one for its seal. */
  readonly time: TimestampClock;
  readonly regions: SegmentRegions;
  readonly logger: Logger;
  readonly index: BatchLocator;
  /** After so long without an append, this storage asks whether its segment was trimmed. */
  readonly quietMaxMs: number;
  /** Identifies this opened storage: not 0, and different from the id of every other one. */
  readonly opener: bigint;
  /** A segment that reaches this size is ended. Smaller than the size at which TiKV splits a region. */
  readonly segmentBytes: number;
  /** The maximum length of one value. */
  readonly partBytesMax: number;
  /** The timeout of writing one value, with all its attempts. */
  readonly appendTimeoutMs: number;
  /** The timeout of a seal, with all its attempts. */
  readonly sealTimeoutMs: number;
  readonly clock: Clock;
  readonly loop: Loop;
}

/** The segment that this process appends to, and the end of the log. */
export interface HeldLog extends LogMark {
  readonly segment: number;
  readonly seal: Seal;
}

interface Held extends HeldLog {
  /** Of the epoch. Undefined if an older program took the log over for this storage's seal. */
  readonly birth: Timestamp | undefined;
  /** The length of all values in the segment. */
  readonly segmentBytes: number;
  /** The last batch of the log. */
  readonly last: BatchHeader | undefined;
  /** The batch at `next` whose write got no answer. No other batch may be written before it is settled. */
  readonly unsettled: Unsettled | undefined;
}

interface Unsettled {
  readonly batch: LogBatch;
  /** How many of its parts are certainly written. */
  readonly written: number;
  /** Its wall-clock mark. A part that may be there already is only found again if its bytes are the same. */
  readonly wallMs: number;
}

type NotCommitted = Exclude<AppendOutcome, { kind: 'committed' }>;
export type Written = { readonly kind: 'committed'; readonly batch: StoredBatch } | NotCommitted;

/** The rolls of one append. If regions are split again after that, the append is uncertain, and the caller retries it. */
const ROLLS_MAX = 3;

const never = new AbortController().signal;

/**
 * Takes the log over, and appends to it. One call at a time.
 *
 * The log is cut into segments. A segment belongs to the opened storage that sealed the previous one, and never to another.
 * So an append only needs to know that its own segment is not sealed, which TiKV checks in the same step in which it writes.
 * Seals are never deleted, so this holds for an append that comes late by any time.
 * A takeover is one insert of a seal. The storage whose insert succeeds owns the next segment, and everything in the previous
 * segment was written before the seal.
 */
export class LogWriter {
  readonly #options: LogWriterOptions;
  readonly #marks: WallMarks;
  #held: Held | undefined;
  /** When the segment of this process was last known not to be trimmed. */
  #heardMs = 0;

  constructor(options: LogWriterOptions) {
    this.#options = options;
    this.#marks = new WallMarks(() => options.time.wallMs());
  }

  /** The log as this process last knew it; undefined if this process does not hold it. Another one may hold it by now. */
  get held(): HeldLog | undefined {
    return this.#held;
  }

  get opener(): bigint {
    return this.#options.opener;
  }

  /** Throws the client's errors if TiKV could not be asked, so that nothing is known of the batch. */
  async append(batch: LogBatch, seal: Seal): Promise<Written> {
    if (this.#held === undefined || !sameSeal(this.#held.seal, seal)) {
      const tail = await this.#look();
      if (isSame(tail.last, batch, seal)) return this.#committed(batch, tail.last);
      if (isFenced(tail.owner.seal, seal)) return await this.#find(batch, seal);
      try {
        await this.seal(seal);
      } catch (error) {
        if (error instanceof StorageFencedError) return await this.#find(batch, seal);
        throw error;
      }
    }
    const held = this.#held!;
    if (isSame(held.last, batch, seal)) return this.#committed(batch, held.last);
    const { unsettled } = held;
    const right = batch.first === held.next && (unsettled === undefined || sameBatch(unsettled.batch, batch));
    if (!right) {
      // A deposed caller may have a wrong position for the end of the log.
      if (isFenced((await this.#look()).owner.seal, seal)) return await this.#find(batch, seal);
      assert(unsettled === undefined || batch.first !== held.next, 'another batch in the place of an uncertain one');
      assert(false, 'a batch that does not begin at the end of the log');
    }
    return await this.#write(batch);
  }

  /**
   * Rejects with StorageFencedError, with StorageTimestampError if timestamps went back, or with StorageUnavailableError if the outcome
   * is not known in time.
   */
  async seal(seal: Seal): Promise<LogPosition> {
    const { source, opener, sealTimeoutMs, clock } = this.#options;
    const endMs = clock.nowMs() + sealTimeoutMs;
    for (let sealed: number | undefined; ; ) {
      const view = await this.#view(endMs);
      const { owner, segment } = view.tail;
      let { birth } = owner;
      if (!takesOver(owner.seal, seal, source.name) && owner.opener === opener) {
        const held = this.#held;
        if (held?.segment === segment && held.unsettled === undefined) return held.next;
        // The answer to the insert of this seal was lost: this storage owns the segment, which is empty.
        if (held?.segment !== segment) sealed = segment - 1;
      }
      if (sealed === undefined) {
        // A timestamp of this call: one of the pool may be older than the epoch before.
        birth = view.snapshot.timestamp;
        if (!(await checkBirth(source, view, this.#timeoutMs(endMs), never))) continue;
        const next: SegmentOwner = { seal, opener, begin: undefined, birth };
        const outcome = await this.#insertSeal(segment, next, true);
        if (outcome.kind === 'written') sealed = segment;
        else if (clock.nowMs() > endMs) throw this.#late(outcome);
      }
      if (sealed === undefined) continue;
      const next = await this.#open(seal, birth, sealed, endMs, owner);
      // Undefined: this storage stood still, and another one has sealed since. The next look shows which.
      if (next !== undefined) return next;
      sealed = undefined;
      if (clock.nowMs() > endMs) throw this.#late();
    }
  }

  /**
   * Begins the segment behind a sealed one. The timestamp of this look is taken after the seal was seen. So the look shows
   * everything that was written before the seal, with any commit timestamp. Undefined if the sealed segment was trimmed since:
   * then another storage holds the log.
   */
  async #open(
    seal: Seal,
    birth: Timestamp | undefined,
    sealed: number,
    endMs?: number,
    before?: EpochBirth,
  ): Promise<LogPosition | undefined> {
    const { timestamps, source } = this.#options;
    const tail = await tailOfSealed(source, sealed, before ?? { birth, seal }, this.#timeoutMs(endMs), never);
    if (tail === undefined) return undefined;
    const { next, logBytes, chain, last } = tail;
    // A trim keeps the segment with the last batch, so that every takeover finds its mark.
    this.#marks.saw(last?.wallMs ?? 0);
    const segment = sealed + 1;
    this.#held = { seal, birth, segment, segmentBytes: 0, next, logBytes, chain, last, unsettled: undefined };
    this.#heardMs = this.#options.clock.nowMs();
    // Timestamps that were fetched before the takeover may lie below the commit timestamps of the previous holder.
    timestamps.renew();
    return next;
  }

  async #write(batch: LogBatch): Promise<Written> {
    if (this.#held!.segmentBytes >= this.#options.segmentBytes && this.#held!.unsettled === undefined) {
      const rolled = await this.#roll(batch);
      if (rolled !== undefined) return rolled;
    }
    for (let rolls = 0; ; rolls += 1) {
      const held = this.#held!;
      const wallMs = held.unsettled?.wallMs ?? this.#marks.next();
      const encoded = await this.#encode(batch, held, wallMs);
      const outcome = await this.#insertParts(batch, encoded, held, wallMs);
      switch (outcome.kind) {
        case 'written': {
          const whole = { batch, written: encoded.values.length, wallMs };
          return (await this.#wasQuiet(held, whole)) ? { kind: 'trimmed' } : this.#advance(batch, encoded, wallMs);
        }
        case 'refused': {
          const owner = sealOf(this.#options.source, held.segment, outcome.by);
          if (!this.#isOwn(owner, held.seal)) return await this.#refused(batch, held);
          // This storage's own seal, whose answer was lost.
          if ((await this.#open(held.seal, held.birth, held.segment)) === undefined)
            return await this.#find(batch, held.seal);
          break;
        }
        case 'taken':
          throw corrupt(this.#options.source, `another batch is at ${batch.first} in a segment of this process`);
        case 'uncertain':
          return outcome;
        case 'apart': {
          if (rolls === ROLLS_MAX) return { kind: 'uncertain', cause: new Error('every region is split') };
          const rolled = await this.#roll(batch);
          if (rolled !== undefined) return rolled;
        }
      }
      // The batch may have been written before the seal.
      const { last } = this.#held!;
      if (isSame(last, batch, held.seal)) return this.#committed(batch, last);
    }
  }

  /** Inserts the parts one after the other. The batch is in the log when its last part is written. */
  async #insertParts(batch: LogBatch, { values }: EncodedBatch, held: Held, wallMs: number): Promise<InsertOutcome> {
    const { keys } = this.#options.source;
    const unless = keys.seal(held.segment);
    const inserting = { ...this.#inserting, span: batch.span };
    let again = held.unsettled !== undefined;
    for (let part = held.unsettled?.written ?? 0; part < values.length; part += 1) {
      const key = keys.slot(held.segment, batch.first, part);
      const insert = { key, value: values[part]!, unless, again };
      const outcome = await insertOnce(insert, inserting);
      if (outcome.kind !== 'written') {
        this.#held = { ...held, unsettled: { batch, written: part, wallMs } };
        return outcome;
      }
      again = false;
    }
    return { kind: 'written' };
  }

  /**
   * Ends the own segment, and goes on in the next one. Undefined if that succeeds; otherwise the outcome of the append of
   * `batch`. The seal settles an uncertain append, as every seal does.
   */
  async #roll(batch: LogBatch): Promise<Written | undefined> {
    const { opener, logger } = this.#options;
    const held = this.#held!;
    const { next, logBytes, chain, birth } = held;
    const begin = held.unsettled === undefined ? { next, logBytes, chain } : undefined;
    const outcome = await this.#insertSeal(held.segment, { seal: held.seal, opener, begin, birth }, false);
    if (outcome.kind === 'uncertain') return outcome;
    if (outcome.kind === 'taken') {
      const owner = sealOf(this.#options.source, held.segment, outcome.value);
      // An uncertain append may have come before the seal of the other one.
      if (!this.#isOwn(owner, held.seal)) return await this.#find(batch, held.seal);
    } else {
      assert(outcome.kind === 'written', 'a single key is refused or split');
    }
    logger.debug({ segment: held.segment, next, bytes: held.segmentBytes }, 'ended a segment of the log');
    if (begin === undefined) {
      if ((await this.#open(held.seal, birth, held.segment)) === undefined) return await this.#find(batch, held.seal);
    } else {
      this.#held = { ...held, segment: held.segment + 1, segmentBytes: 0 };
    }
    return undefined;
  }

  #isOwn(owner: SegmentOwner, seal: Seal): boolean {
    return owner.opener === this.#options.opener && sameSeal(owner.seal, seal);
  }

  /**
   * The outcome of an append that met the seal of another storage, and no batch in its place. That place was trimmed if its
   * segment is one of those whose batches may be deleted by now, and the batch may have been there.
   */
  async #refused(batch: LogBatch, { segment }: Held): Promise<Written> {
    const root = await readImageRoot(this.#options.source, never);
    this.#held = undefined;
    return segment < root.segment && batch.first < root.trimmed ? { kind: 'trimmed' } : { kind: 'fenced' };
  }

  /** What became of a batch whose writer is deposed: by the seal, it is in the log by now or never will be. */
  async #find(batch: LogBatch, seal: Seal): Promise<Written> {
    const { source, index } = this.#options;
    this.#held = undefined;
    const tail = await this.#look();
    let there: StoredBatch | undefined;
    let damage: unknown;
    try {
      // Nothing is read if the log ends before the batch.
      const end = logPosition(Math.max(tail.next, batch.first));
      for await (const found of readBatches(source, index, { from: batch.first, end }, never)) {
        there = found;
        break;
      }
    } catch (error) {
      if (!(error instanceof StorageCorruptError)) throw error;
      damage = error;
    }
    // A deletion does not wait for readers, so this is read behind the batch.
    if (batch.first < (await readImageRoot(source, never)).trimmed) return { kind: 'trimmed' };
    if (damage !== undefined) throw damage;
    return isSame(there?.header, batch, seal) ? this.#committed(batch, there!.header) : { kind: 'fenced' };
  }

  /**
   * Whether the segment was trimmed while this storage stood still. Then the log ends elsewhere, whatever TiKV answered. The
   * question costs a request, so it is asked only where a trim need not have waited for this storage. If it is not answered, the
   * batch is appended again: `whole` says that nothing of it is left to write.
   */
  async #wasQuiet(held: Held, whole: Unsettled): Promise<boolean> {
    const { source, clock, quietMaxMs } = this.#options;
    const nowMs = clock.nowMs();
    if (nowMs - this.#heardMs > quietMaxMs) {
      this.#held = { ...held, unsettled: whole };
      if (held.segment < (await readImageRoot(source, never)).segment) {
        this.#held = undefined;
        return true;
      }
    }
    this.#heardMs = nowMs;
    return false;
  }

  async #insertSeal(segment: number, owner: SegmentOwner, again: boolean): Promise<InsertOutcome> {
    const { keys } = this.#options.source;
    const insert = { key: keys.seal(segment), value: encodeSeal(owner), unless: undefined, again };
    return await insertOnce(insert, this.#inserting);
  }

  #encode(
    batch: LogBatch,
    { segment, seal, logBytes, chain }: Held,
    wallMs: number,
  ): EncodedBatch | Promise<EncodedBatch> {
    const { partBytesMax, loop } = this.#options;
    const place = { segment, seal, logBytesBefore: logBytes, previous: chain, wallMs };
    return loop.run(APPEND, encodingBatch(batch, place, partBytesMax, loop));
  }

  #advance(batch: LogBatch, { values, chain, logBytes }: EncodedBatch, wallMs: number): Written {
    const { seal, birth, segment, segmentBytes, chain: previous } = this.#held!;
    const count = batch.records.length;
    const parts = values.length;
    const place = { segment, seal, first: batch.first, count, logBytes, previous, chain, wallMs };
    const last = { part: parts - 1, parts, ...place };
    let bytes = segmentBytes;
    for (const value of values) bytes += value.length;
    // Not before half of the size: a takeover soon after the last one needs no region of its own.
    const half = this.#options.segmentBytes / 2;
    if (segmentBytes < half && bytes >= half) this.#options.regions.prepare(segment + 1);
    const next = logPosition(batch.first + count);
    this.#held = { seal, birth, segment, segmentBytes: bytes, next, logBytes, chain, last, unsettled: undefined };
    return this.#committed(batch, last);
  }

  #committed(batch: LogBatch, header: BatchHeader): Written {
    return { kind: 'committed', batch: { first: batch.first, records: batch.records, header } };
  }

  /** Reads the end of the log at a new timestamp. */
  async #look(): Promise<LogTail> {
    return (await this.#view()).tail;
  }

  #view(endMs?: number): Promise<LogView> {
    return lookAtTail(this.#options.source, never, { timeoutMs: this.#timeoutMs(endMs) });
  }

  #timeoutMs(endMs: number | undefined): number {
    const { source, clock } = this.#options;
    return endMs === undefined ? source.timeoutMs : Math.max(1, endMs - clock.nowMs());
  }

  #late(outcome?: InsertOutcome): StorageUnavailableError {
    const cause = outcome?.kind === 'uncertain' ? outcome.cause : undefined;
    return new StorageUnavailableError(`${this.#options.source.name} could not be sealed in time`, { cause });
  }

  get #inserting(): Parameters<typeof insertOnce>[1] {
    const { source, timestamps, appendTimeoutMs, clock } = this.#options;
    return { client: source.client, timestamps, endMs: clock.nowMs() + appendTimeoutMs, clock };
  }
}

function isSame(last: BatchHeader | undefined, batch: LogBatch, seal: Seal): last is BatchHeader {
  if (last === undefined || last.first !== batch.first || last.count !== batch.records.length) return false;
  return sameSeal(last.seal, seal) && finish(chainBehind(last.previous, batch, unhurried)) === last.chain;
}
