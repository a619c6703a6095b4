import { readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { systemErrorCode } from '@engram/core';
import { nodeFileSystem } from '@engram/storage-segment';
import { ConfigError } from '../flags/flag-values.ts';
import { writeSynced } from './write-synced.ts';

/** Beside the data of a store that follows an etcd: while it is there, only the follower writes. */
export interface MigrationMark {
  /** The cluster that is followed. */
  readonly clusterId: bigint;
  /** The endpoints that were given at the founding, for the operator. */
  readonly from: readonly string[];
}

const FILE = 'migration.json';
const MAGIC = 'engram migration';
const FORMAT = 1;
/** A longer file is damaged. */
const FILE_BYTES_MAX = 64 << 10;

/** Undefined if there is none. Throws ConfigError if it is damaged, or of a newer program. */
export function readMigrationMark(own: string): MigrationMark | undefined {
  const path = join(own, FILE);
  let text: string;
  try {
    if (statSync(path).size > FILE_BYTES_MAX) throw damaged(path);
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  const mark = parseMark(text);
  if (mark === undefined) throw damaged(path);
  return mark;
}

/** Durable when the folder is. */
export function writeMigrationMark(own: string, { clusterId, from }: MigrationMark): void {
  const mark = { magic: MAGIC, format: FORMAT, clusterId: clusterId.toString(16), from };
  writeSynced(join(own, FILE), `${JSON.stringify(mark)}\n`, 'wx');
}

/** Resolves when it is gone for good. May be called again when that failed: the file may be gone by then, and the folder not synced. */
export async function removeMigrationMark(own: string): Promise<void> {
  rmSync(join(own, FILE), { force: true });
  await nodeFileSystem.syncDirectory(own);
}

function parseMark(text: string): MigrationMark | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { magic, format, clusterId, from }: Record<string, unknown> = { ...value };
  if (magic !== MAGIC || format !== FORMAT || !Array.isArray(from)) return undefined;
  if (typeof clusterId !== 'string' || !/^[\da-f]{1,16}$/.test(clusterId)) return undefined;
  return { clusterId: BigInt(`0x${clusterId}`), from: from.map(String) };
}

const damaged = (path: string): ConfigError =>
  new ConfigError(
    `${path} is damaged, or was written by a newer version: it is unknown whether the store may be written to`,
  );
