import { type Clock, epoch, type Epoch, type Logger, type LogPosition, logPosition } from '@engram/core';
import { type Storage, StorageCorruptError, StorageOpenError } from '@engram/storage';
import { ClassicLevel } from 'classic-level';
import { AcknowledgedMark, type AcknowledgedState, readAcknowledged } from './acknowledged-mark.ts';
import { CheckpointStore, type Manifest } from './checkpoint-store.ts';
import { Database, errorCode, isDamage, type Level } from './database.ts';
import { DirectorySize } from './directory-size.ts';
import { inspectDirectory } from './inspect-directory.ts';
import {
  allRecords,
  decodeNumbers,
  encodeNumbers,
  FORMAT_KEY,
  FORMAT_VERSION,
  readRecordEntry,
  recordKey,
  recordKeyPosition,
  SEAL_KEY,
  USAGE_KEY,
} from './layout.ts';
import { LevelLog } from './level-log.ts';
import { LevelStorage } from './level-storage.ts';
import { LevelValues } from './level-values.ts';
import { RecordReader } from './record-reader.ts';
import { Usage } from './usage.ts';

export interface LevelDbOptions {
  /** A directory of its own; it and its parents are made where they are missing. */
  readonly path: string;
  /** What LevelDB's block cache may hold. Up to two write buffers of 16 MiB come on top. */
  readonly cacheBytes: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

const WRITE_BUFFER_BYTES = 16 << 20;
/** Records arrive in the order of their keys, so large files are moved between LevelDB's levels, not rewritten. */
const FILE_BYTES = 32 << 20;

/**
 * Opens the storage, or makes a new one, and holds it exclusively until it is disposed. StorageOpenError says why it
 * cannot be opened; StorageCorruptError that acknowledged bytes are gone, as far as that shows before they are read.
 */
export async function openLevelDbStorage(options: LevelDbOptions): Promise<Storage> {
  const { path, clock, logger } = options;
  const found = await inspectDirectory(path);
  const level = await openLevel(options, found === 'empty');
  const database = new Database(level, path, logger);
  try {
    const acknowledged = await readMark(database);
    await checkFormat(database, acknowledged !== undefined);
    const manifest = await CheckpointStore.readManifest(database);
    const state = await readState(database, manifest, acknowledged);
    const usage = await readUsage(database, state.end);
    const mark = await AcknowledgedMark.open(path, state, clock, logger);
    const checkpoints = new CheckpointStore(database, mark, manifest);
    const log = new LevelLog(database, mark, usage, state.end, state.sealed);
    const reader = new RecordReader(database);
    const directorySize = new DirectorySize(path, clock);
    const values = new LevelValues({ database, log, reader, checkpoints, usage, directorySize });
    logger.info({ path, end: state.end, replayFrom: checkpoints.from }, 'opened the storage');
    return new LevelStorage(database, mark, log, values);
  } catch (error) {
    await level.close();
    throw error;
  }
}

async function openLevel({ path, cacheBytes }: LevelDbOptions, create: boolean): Promise<Level> {
  const level: Level = new ClassicLevel(path, {
    keyEncoding: 'view',
    valueEncoding: 'view',
    createIfMissing: create,
    cacheSize: cacheBytes,
    writeBufferSize: WRITE_BUFFER_BYTES,
    maxFileSize: FILE_BYTES,
  });
  try {
    await level.open();
    return level;
  } catch (error) {
    await level.close();
    throw openFailure(path, error);
  }
}

function openFailure(path: string, error: unknown): Error {
  // abstract-level says only that it did not open; why is below.
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const text = cause instanceof Error ? cause.message : String(cause);
  if (errorCode(cause) === 'LEVEL_LOCKED') {
    return new StorageOpenError('locked', `${path} is in use by another process: ${text}`, { cause });
  }
  if (!isDamage(cause)) {
    return new StorageOpenError('not-accessible', `cannot open the database at ${path}: ${text}`, { cause });
  }
  // The directory was listed a moment ago, so what LevelDB misses or cannot parse is damage.
  return new StorageCorruptError(`cannot open the database: ${text}`, path, { cause });
}

async function readMark(database: Database): Promise<AcknowledgedState | undefined> {
  const mark = await readAcknowledged(database.path);
  if (mark !== 'damaged') return mark;
  database.logger.warn({ path: database.path }, 'the mark of what was acknowledged is damaged, and not used');
  return undefined;
}

async function checkFormat(database: Database, ours: boolean): Promise<void> {
  const { level, path } = database;
  const bytes = await database.reading(() => level.get(FORMAT_KEY));
  if (bytes !== undefined) {
    const format = decodeNumbers(FORMAT_KEY, bytes)?.[0];
    if (format === undefined) throw database.corrupt('the format version is damaged');
    if (format <= FORMAT_VERSION) return;
    const known = `${FORMAT_VERSION} is the newest that this program knows`;
    throw new StorageOpenError('newer-format', `the storage at ${path} has format ${format}, and ${known}`);
  }
  const [anyKey] = await database.reading(() => level.keys({ limit: 1 }).all());
  if (ours) throw database.corrupt('the format version is missing');
  if (anyKey !== undefined)
    throw new StorageOpenError('not-ours', `${path} holds a LevelDB database of something else`);
  const value = encodeNumbers(FORMAT_KEY, [FORMAT_VERSION]);
  await database.write([{ type: 'put', key: FORMAT_KEY, value }], true);
}

/** Where the log ends, who sealed it and which checkpoint counts, held against what was acknowledged. */
async function readState(
  database: Database,
  manifest: Manifest | undefined,
  acknowledged: AcknowledgedState | undefined,
): Promise<AcknowledgedState> {
  const end = logPosition(Math.max((await lastRecord(database)) + 1, manifest?.from ?? 1));
  const sealed = await readSeal(database);
  const checkpoint = manifest?.id ?? 0;
  if (acknowledged === undefined) return { end, sealed, checkpoint };
  if (end < acknowledged.end) {
    throw database.corrupt(`the records from ${end} to ${acknowledged.end - 1} were acknowledged and are gone`);
  }
  if (sealed < acknowledged.sealed) {
    throw database.corrupt(`epoch ${acknowledged.sealed} has sealed the log, and the database knows only ${sealed}`);
  }
  if (checkpoint < acknowledged.checkpoint) {
    throw database.corrupt(`checkpoint ${acknowledged.checkpoint} was saved, and the newest there is ${checkpoint}`);
  }
  return { end, sealed, checkpoint };
}

/** 0 when there is none. */
async function lastRecord(database: Database): Promise<number> {
  const last = database.level.iterator({ ...allRecords, reverse: true, limit: 1 });
  const [entry] = await database.reading(() => last.all());
  if (entry === undefined) return 0;
  const [key, bytes] = entry;
  const position = recordKeyPosition(key);
  if (position === undefined) throw database.corrupt(`the key of the last record is damaged`);
  const following = readRecordEntry(bytes, position)?.following;
  if (following === undefined) throw database.corrupt(`record ${position}, the last one, is damaged`);
  if (following > 0) throw database.corrupt(`of the last batch ${following} records behind ${position} are missing`);
  return position;
}

async function readSeal(database: Database): Promise<Epoch> {
  const bytes = await database.reading(() => database.level.get(SEAL_KEY));
  if (bytes === undefined) return epoch(0);
  const sealed = decodeNumbers(SEAL_KEY, bytes)?.[0];
  if (sealed === undefined) throw database.corrupt('the seal is damaged');
  return epoch(sealed);
}

/** What the last drop noted, and LevelDB's estimate of what was appended since. */
async function readUsage(database: Database, end: LogPosition): Promise<Usage> {
  const bytes = await database.reading(() => database.level.get(USAGE_KEY));
  const [upTo = 1, records = 0, size = 0] = bytes === undefined ? [] : (decodeNumbers(USAGE_KEY, bytes) ?? []);
  const appended = await database.level.approximateSize(recordKey(upTo), recordKey(end));
  return new Usage(records + Math.max(0, end - upTo), size + appended);
}
