import { join } from 'node:path';
import { StorageCorruptError } from '@engram/storage';
import type { Condition } from './disk/condition.ts';
import { META_CURRENT, META_DIRECTORY, NEW_META_DIRECTORY } from './disk/file-names.ts';
import type { Ground } from './ground.ts';
import { listIfThere } from './inspect-directory.ts';
import type { Meta } from './manifest/meta.ts';

/**
 * Makes the manifest's database, in a directory in which nothing was ever acknowledged. LevelDB does not make a new
 * database durable: after a loss of power a file of it may have its name and not its bytes, and the database can never
 * be opened again. So it is made under another name, synced, and renamed.
 *
 * Another process may do the same at the same time. The lock of the new database decides: only its holder removes
 * anything, and nothing that could be opened. A rename over a database fails.
 */
export async function createMeta(ground: Ground, condition: Condition): Promise<void> {
  const { fileSystem } = ground;
  const { path } = condition;
  const made = join(path, NEW_META_DIRECTORY);
  const meta = await openNew(ground, condition, made);
  try {
    await removeUnfinished(ground, condition);
  } finally {
    await meta.close();
  }
  for (const name of await fileSystem.list(made)) {
    const file = await fileSystem.open(join(made, name), 'update');
    try {
      await file.sync();
    } finally {
      await file.close();
    }
  }
  await fileSystem.syncDirectory(made);
  await fileSystem.rename(made, join(path, META_DIRECTORY));
  await fileSystem.syncDirectory(path);
}

/** An earlier start may have left the new database in any state, but always without an entry. */
async function openNew(ground: Ground, condition: Condition, path: string): Promise<Meta> {
  try {
    return await ground.openMeta(path, true);
  } catch (error) {
    if (!(error instanceof StorageCorruptError)) throw error;
    await removeDatabase(ground, condition, path, error);
    return await ground.openMeta(path, true);
  }
}

/** A start of an earlier program made the database in its place. */
async function removeUnfinished(ground: Ground, condition: Condition): Promise<void> {
  const path = join(condition.path, META_DIRECTORY);
  const names = await listIfThere(ground.fileSystem, path);
  if (names.length === 0) return;
  let found: Meta;
  try {
    if (!names.includes(META_CURRENT)) throw new StorageCorruptError(`it has no ${META_CURRENT}`, path);
    found = await ground.openMeta(path, false);
  } catch (error) {
    if (!(error instanceof StorageCorruptError)) throw error;
    await removeDatabase(ground, condition, path, error);
    return;
  }
  await found.close();
}

async function removeDatabase({ fileSystem }: Ground, { logger }: Condition, path: string, err: Error): Promise<void> {
  logger.warn({ path, err }, 'removed the manifest of a first start that was interrupted: nothing was acknowledged');
  await fileSystem.removeDirectory(path);
}
