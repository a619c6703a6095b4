import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { drawId, type Random, systemErrorCode } from '@engram/core';
import { nodeFileSystem } from '@engram/storage-segment';
import { makeDataDirectory } from './data-directory.ts';
import { writeSynced } from './write-synced.ts';

const foundingFolder = (dataDir: string): string => join(dataDir, 'engram.founding');
const NUMBER = 'restore';
const NUMBER_BYTES_MAX = 64;

/**
 * What a member needs while it founds a store in TiKV: room for a snapshot, and the number of its restore into the prefix. The number is
 * that of every attempt from this data directory, so that one that was killed is replaced by the next.
 */
export class FoundingFolder implements Disposable {
  /** An empty folder to work in. Disposal removes it. */
  readonly path: string;
  readonly restore: bigint;

  private constructor(path: string, restore: bigint) {
    this.path = path;
    this.restore = restore;
  }

  /** Removes what an attempt before has left, but its number. Durable when it resolves. */
  static async open(dataDir: string, random: Random): Promise<FoundingFolder> {
    makeDataDirectory(dataDir);
    const folder = foundingFolder(dataDir);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const restore = readNumber(folder) ?? (await drawNumber(folder, random));
    const path = join(folder, 'work');
    rmSync(path, { recursive: true, force: true });
    mkdirSync(path, { mode: 0o700 });
    return new FoundingFolder(path, restore);
  }

  /** The store is founded: nothing of it is needed any more. */
  static remove(dataDir: string): void {
    rmSync(foundingFolder(dataDir), { recursive: true, force: true });
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

function readNumber(folder: string): bigint | undefined {
  try {
    const text = readFileSync(join(folder, NUMBER), 'latin1').slice(0, NUMBER_BYTES_MAX);
    const [, hex] = /^([\da-f]{1,16})\n$/.exec(text) ?? [];
    return hex === undefined ? undefined : BigInt(`0x${hex}`) || undefined;
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function drawNumber(folder: string, random: Random): Promise<bigint> {
  const restore = drawId(random);
  writeSynced(join(folder, NUMBER), `${restore.toString(16)}\n`, 'w');
  await nodeFileSystem.syncDirectory(folder);
  return restore;
}
