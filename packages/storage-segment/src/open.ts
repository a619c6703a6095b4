import { join } from 'node:path';
import {
  assert,
  type Clock,
  type Logger,
  type LogPosition,
  logPosition,
  type Random,
  systemErrorCode,
} from '@engram/core';
import { Loop } from '@engram/loop';
import {
  type AcknowledgedState,
  type Storage,
  StorageCorruptError,
  StorageOpenError,
  WallMarks,
} from '@engram/storage';
import { openMark, readMark } from './log/acknowledged-mark.ts';
import { CheckpointStore } from './checkpoint-store.ts';
import { Cleaner } from './cleaner/cleaner.ts';
import { Condition } from './disk/condition.ts';
import { createMeta } from './create-meta.ts';
import { ACKNOWLEDGED_FILE, META_DIRECTORY } from './disk/file-names.ts';
import type { FileSystem } from './disk/file-system.ts';
import { type Ground, nodeGround, unsyncedGround } from './ground.ts';
import { type Found, inspectDirectory } from './inspect-directory.ts';
import { LogTail } from './log/log-tail.ts';
import { Manifest, type ManifestState } from './manifest/manifest.ts';
import type { Meta } from './manifest/meta.ts';
import { RecordReader } from './record-reader.ts';
import { type Recovered, recoverSegments } from './recover.ts';
import type { Segment } from './segments/segment.ts';
import { newestMark } from './segments/newest-mark.ts';
import { SegmentList } from './segments/segment-list.ts';
import { SegmentLog } from './log/segment-log.ts';
import { SegmentMaker } from './segments/segment-maker.ts';
import { SegmentStorage } from './segment-storage.ts';
import { SegmentValues } from './segment-values.ts';

export interface SegmentStorageOptions {
  /** A directory of its own. It and its parents are created if they are missing. */
  readonly path: string;
  readonly clock: Clock;
  /** The owner of the event loop's time. If undefined, the storage has one of its own. */
  readonly loop?: Loop | undefined;
  /** Distinguishes a file's frames from those that another file has left on the same blocks. Never the same twice. */
  readonly random: Random;
  readonly logger: Logger;
  /** The approximate size of a segment file, from 4 KiB to 256 MiB; 64 MiB by default. */
  readonly segmentBytes?: number;
  /**
   * `none` is for a copy of data that is kept elsewhere. Nothing waits for the disk: acknowledged writes survive the
   * process, but a crash of the machine may lose or damage them, which opening or reading detects. Its batches get no
   * wall-clock marks. `synced` is the default.
   */
  readonly durability?: 'synced' | 'none';
  /** Where the log of a new storage begins; 1 by default. */
  readonly first?: LogPosition;
}

const SEGMENT_BYTES = 64 << 20;
const SEGMENT_BYTES_MIN = 4 << 10;
const SEGMENT_BYTES_LIMIT = 256 << 20;

/**
 * Opens or creates the storage and holds it exclusively until it is disposed. StorageOpenError says why it cannot be
 * opened. StorageCorruptError says that acknowledged bytes are gone, as far as that shows without reading everything.
 */
export async function openSegmentStorage(options: SegmentStorageOptions): Promise<Storage> {
  return await openOn(options.durability === 'none' ? unsyncedGround : nodeGround, options);
}

/** As `openSegmentStorage`, on a system that a test may provide. */
export async function openOn(ground: Ground, options: SegmentStorageOptions): Promise<SegmentStorage> {
  const { path, logger, segmentBytes = SEGMENT_BYTES, first = logPosition(1) } = options;
  assert(segmentBytes >= SEGMENT_BYTES_MIN && segmentBytes <= SEGMENT_BYTES_LIMIT, 'segments of an impossible size');
  const { fileSystem } = ground;
  const found = await inspectDirectory(fileSystem, path);
  const condition = new Condition(path, logger);
  const marked = options.durability !== 'none';
  const meta = await openMeta(ground, condition, found).catch((error: unknown) => {
    throw openFailure(path, error);
  });
  const manifest = new Manifest(meta, condition, marked);
  const opened: Segment[] = [];
  try {
    const mark = await usableMark(fileSystem, condition);
    const state = await manifest.load(found === 'storage', first);
    checkAcknowledged(condition, state, mark);
    const recovered = await recoverSegments(fileSystem, condition, manifest, state, mark?.end ?? 0);
    opened.push(...recovered.segments, ...recovered.empty);
    return await assemble(ground, condition, manifest, state, recovered, { ...options, segmentBytes, marked });
  } catch (error) {
    for (const segment of opened) await segment.close();
    await manifest.close();
    throw openFailure(path, error);
  }
}

/** An error of the system does not say which storage it has met. */
function openFailure(path: string, error: unknown): unknown {
  if (systemErrorCode(error) === undefined || !(error instanceof Error)) return error;
  return new StorageOpenError('not-accessible', `cannot open the storage at ${path}: ${error.message}`, {
    cause: error,
  });
}

async function openMeta(ground: Ground, condition: Condition, found: Found): Promise<Meta> {
  const path = join(condition.path, META_DIRECTORY);
  if (found === 'empty') await createMeta(ground, condition);
  // An earlier start may have ended between the rename of the database and its sync. No segment may be durable before that name.
  if (found === 'unused') await ground.fileSystem.syncDirectory(condition.path);
  try {
    return await ground.openMeta(path, false);
  } catch (error) {
    if (found !== 'unused' || !(error instanceof StorageCorruptError)) throw error;
  }
  await createMeta(ground, condition);
  return await ground.openMeta(path, false);
}

async function assemble(
  { fileSystem, reserves = true, idleMs }: Ground,
  condition: Condition,
  manifest: Manifest,
  state: ManifestState,
  recovered: Recovered,
  {
    clock,
    loop = new Loop({ clock }),
    random,
    segmentBytes,
    marked,
  }: Pick<SegmentStorageOptions, 'clock' | 'loop' | 'random'> & {
    readonly segmentBytes: number;
    readonly marked: boolean;
  },
): Promise<SegmentStorage> {
  const { path, logger } = condition;
  const from = state.checkpoint?.from ?? state.begin;
  const end = logPosition(Math.max(from, recovered.segments.at(-1)?.table.next ?? from));
  const segments = new SegmentList(recovered.segments);
  const maker = new SegmentMaker(fileSystem, condition, manifest, random, recovered.nextId, marked);
  const marks = new WallMarks(() => clock.wallMs());
  marks.saw(await newestMark(condition, segments.all));
  const common = { fileSystem, condition, manifest, segments, maker, clock, loop, marks, segmentBytes };
  const cleaner = new Cleaner({ ...common, roll: () => log.roll() });
  const open = [...recovered.segments.filter(({ sealed }) => !sealed), ...recovered.empty];
  const tail = await LogTail.open({ ...common, idleMs, reserves, onSealed: () => cleaner.wake() }, open, end);
  const written: AcknowledgedState = { end, sealed: state.sealed.epoch, checkpoint: state.checkpoint?.id ?? 0 };
  const acknowledged = await openMark(fileSystem, written, clock, condition);
  const checkpoints = new CheckpointStore(
    { fileSystem, condition, manifest, acknowledged, segments },
    state.checkpoint,
    state.begin,
  );
  const log = new SegmentLog({ condition, manifest, segments, tail, acknowledged }, state.sealed);
  const bulk = fileSystem.bulkReader();
  const reader = new RecordReader(condition, segments, fileSystem, bulk, clock, loop);
  const values = new SegmentValues({ condition, segments, tail, log, reader, checkpoints, cleaner });
  const newest = marks.newest === 0 ? undefined : new Date(marks.newest);
  logger.info({ path, end, replayFrom: from, segments: segments.all.length, newest }, 'opened the storage');
  cleaner.wake();
  return new SegmentStorage(log, values, { condition, manifest, acknowledged, segments, tail, bulk, cleaner });
}

async function usableMark(fileSystem: FileSystem, condition: Condition): Promise<AcknowledgedState | undefined> {
  const mark = await condition.reading(ACKNOWLEDGED_FILE, () => readMark(fileSystem, condition.path));
  if (mark !== 'damaged') return mark;
  condition.logger.warn({ path: condition.path }, 'the mark of what was acknowledged is damaged, and not used');
  return undefined;
}

function checkAcknowledged(
  condition: Condition,
  { sealed, checkpoint }: ManifestState,
  mark: AcknowledgedState | undefined,
): void {
  if (mark === undefined) return;
  if (sealed.epoch < mark.sealed) {
    throw condition.corrupt(`epoch ${mark.sealed} has sealed the log, and the manifest knows only ${sealed.epoch}`);
  }
  const newest = checkpoint?.id ?? 0;
  if (newest < mark.checkpoint) {
    throw condition.corrupt(`checkpoint ${mark.checkpoint} was saved, and the newest there is ${newest}`);
  }
}
