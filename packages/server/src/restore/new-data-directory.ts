import { existsSync, mkdirSync, readdirSync, rmdirSync } from 'node:fs';
import { basename } from 'node:path';
import { systemErrorCode } from '@engram/core';
import { nodeFileSystem } from '@engram/storage-segment';
import { ConfigError } from '../flags/flag-values.ts';
import { makeDataDirectory, ownFolder, unfinishedFolder } from '../start/data-directory.ts';

/** The root of an empty file system has this folder. */
const LOST_AND_FOUND = 'lost+found';

/** Throws ConfigError if something is in the directory. It need not exist. */
export function checkEmptyDirectory(dataDir: string): void {
  let names: readonly string[];
  try {
    names = readdirSync(dataDir).filter((name) => name !== LOST_AND_FOUND);
  } catch (cause) {
    if (systemErrorCode(cause) === 'ENOENT') return;
    throw new ConfigError(`data-dir ${JSON.stringify(dataDir)} not empty or could not be read`, { cause });
  }
  if (names.length === 0) return;
  const unfinished = unfinishedFolder(dataDir);
  const left = names.includes(basename(unfinished))
    ? `: ${unfinished} is of a restore that runs, or that was ended before it was done. In the latter case remove it`
    : '';
  throw new ConfigError(`data-dir ${JSON.stringify(dataDir)} not empty or could not be read${left}`);
}

/**
 * A data directory that is being made. Before `keep`, its content has a name with which no node starts. Disposal without
 * it removes everything that was made.
 */
export class NewDataDirectory implements AsyncDisposable {
  /** The folder to fill. */
  readonly path: string;
  readonly #dataDir: string;
  readonly #made: boolean;
  #kept = false;

  private constructor(dataDir: string, made: boolean) {
    this.#dataDir = dataDir;
    this.#made = made;
    this.path = unfinishedFolder(dataDir);
  }

  /** Throws ConfigError if the directory is not empty or cannot be made. */
  static make(dataDir: string): NewDataDirectory {
    checkEmptyDirectory(dataDir);
    const directory = new NewDataDirectory(dataDir, !existsSync(dataDir));
    makeDataDirectory(dataDir);
    try {
      mkdirSync(directory.path, { mode: 0o700 });
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new ConfigError(`cannot make ${directory.path}: ${why}`, { cause });
    }
    return directory;
  }

  /** Gives the folder, whose content is durable, the name that a start opens. Durable when it resolves. */
  async keep(): Promise<void> {
    await nodeFileSystem.syncDirectory(this.path);
    // A folder of that name that is not empty is in the way: a node has started meanwhile.
    await nodeFileSystem.rename(this.path, ownFolder(this.#dataDir));
    this.#kept = true;
    await nodeFileSystem.makeDirectory(ownFolder(this.#dataDir));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#kept) return;
    await nodeFileSystem.removeDirectory(this.path);
    if (!this.#made) return;
    try {
      rmdirSync(this.#dataDir);
    } catch (error) {
      if (systemErrorCode(error) !== 'ENOTEMPTY') throw error;
    }
  }
}
