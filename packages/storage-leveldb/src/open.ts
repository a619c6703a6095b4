import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, type Logger, type LogPosition, logPosition } from '@engram/core';
import type { AcknowledgedState, Storage } from '@engram/storage';
import { openMark, readMark } from './acknowledged-mark.ts';
import { CheckpointStore } from './checkpoint-store.ts';
import { Database, type Level } from './database.ts';
import { DirectorySize } from './directory-size.ts';
import { checkpointFile, RECORDS_DIRECTORY, STATE_FILE } from './files.ts';
import { type Found, inspectDirectory } from './inspect-directory.ts';
import { LevelLog } from './level-log.ts';
import { LevelStorage } from './level-storage.ts';
import { LevelValues } from './level-values.ts';
import { readRecordEntry, recordKey, recordKeyPosition } from './record-entry.ts';
import { openRecords } from './open-records.ts';
import { RecordReader } from './record-reader.ts';
import { type State, StateFile } from './state-file.ts';
import { Usage } from './usage.ts';

export interface LevelDbOptions {
  /** A directory of the storage's own. It and its parents are created if they are missing. */
  readonly path: string;
  /** The size of LevelDB's block cache. LevelDB also uses up to two write buffers of 16 MiB. */
  readonly cacheBytes: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Opens or creates the storage and locks it until it is disposed. Rejects with StorageOpenError if it cannot be opened, and
 * with StorageCorruptError if acknowledged bytes are gone, as far as opening shows that without reading every record.
 */
export async function openLevelDbStorage(options: LevelDbOptions): Promise<Storage> {
  const found = await inspectDirectory(options.path);
  const level = await openRecords(options, found);
  try {
    return await openStorage(options, found, level);
  } catch (error) {
    await level.close();
    throw error;
  }
}

async function openStorage({ path, clock, logger }: LevelDbOptions, found: Found, level: Level): Promise<Storage> {
  const database = new Database(level, path, logger);
  const last = await lastRecord(database);
  const stateFile = await openState(database, found, last);
  const { state } = stateFile;
  const end = logPosition(Math.max(last + 1, state.checkpoint.from));
  const acknowledged = { end, sealed: state.sealed.epoch, checkpoint: state.checkpoint.id };
  await holdAgainstMark(database, acknowledged);
  await removeLeftovers(path, found, state);
  const usage = await openUsage(database, state, end);
  const mark = await openMark(path, acknowledged, clock, logger);
  const parts = { database, stateFile, mark, usage };
  const checkpoints = new CheckpointStore(parts);
  const log = new LevelLog(parts, end);
  const reader = new RecordReader(database);
  const directorySize = new DirectorySize([path, join(path, RECORDS_DIRECTORY)], clock);
  const values = new LevelValues({ database, log, reader, checkpoints, usage, directorySize });
  logger.info({ path, end, replayFrom: checkpoints.from }, 'opened the storage');
  return new LevelStorage(parts, log, values);
}

/** The position of the last record; 0 if there is none. */
async function lastRecord(database: Database): Promise<number> {
  const last = database.level.iterator({ reverse: true, limit: 1 });
  const [entry] = await database.reading(() => last.all());
  if (entry === undefined) return 0;
  const [key, bytes] = entry;
  const position = recordKeyPosition(key);
  if (position === undefined) throw database.corrupt('the key of the last record is damaged');
  const following = readRecordEntry(bytes, position)?.following;
  if (following === undefined) throw database.corrupt(`record ${position}, the last one, is damaged`);
  if (following > 0) throw database.corrupt(`of the last batch ${following} records behind ${position} are missing`);
  return position;
}

/** A new storage writes its state right after it creates the database. So a used storage without a state is damaged. */
async function openState(database: Database, found: Found, last: number): Promise<StateFile> {
  const { path } = database;
  const file = await StateFile.read(path);
  if (file !== undefined) return file;
  if (!found.unused || last > 0) throw database.corrupt(`the file ${STATE_FILE} is missing`);
  return await StateFile.create(path);
}

async function holdAgainstMark(database: Database, there: AcknowledgedState): Promise<void> {
  const mark = await readMark(database.path);
  if (mark === undefined) return;
  if (mark === 'damaged') {
    database.logger.warn({ path: database.path }, 'the mark of what was acknowledged is damaged, and not used');
    return;
  }
  if (there.end < mark.end) {
    throw database.corrupt(`the records from ${there.end} to ${mark.end - 1} were acknowledged and are gone`);
  }
  if (there.sealed < mark.sealed) {
    throw database.corrupt(`epoch ${mark.sealed} has sealed the log, and only ${there.sealed} is known`);
  }
  if (there.checkpoint < mark.checkpoint) {
    throw database.corrupt(`checkpoint ${mark.checkpoint} was saved, and the newest known is ${there.checkpoint}`);
  }
}

/** Removes the files of interrupted checkpoints, and of checkpoints replaced just before the process ended. */
async function removeLeftovers(path: string, found: Found, state: State): Promise<void> {
  for (const name of found.checkpointFiles) {
    if (name !== checkpointFile(state.checkpoint.id)) await rm(join(path, name), { force: true });
  }
}

/** The state's figures plus LevelDB's estimate of what was appended since, limited to its estimate of all records. */
async function openUsage(database: Database, state: State, end: LogPosition): Promise<Usage> {
  const { upTo, records, bytes } = state.usage;
  const appended = await database.level.approximateSize(recordKey(upTo), recordKey(end));
  const all = await database.level.approximateSize(recordKey(0), recordKey(end));
  return new Usage(end, records + Math.max(0, end - upTo), Math.min(bytes + appended, all));
}
