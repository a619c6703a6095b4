import { constants } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { openBackend, type StoreImage } from '@engram/backend';
import { epoch, type Logger } from '@engram/core';
import { readConfiguration } from '../config/configuration.ts';
import { ConfigError } from '../flags/flag-values.ts';
import { holdsCopyOfCluster, openData, ownFolder, storeFiles } from '../start/data-directory.ts';
import { SystemClock } from '../system-clock.ts';
import { SystemRandom } from '../system-random.ts';

export interface StoppedStoreParts {
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/**
 * The store of a data directory whose node does not run. It is opened as that node would open it, but from a copy: a start writes what
 * a crash has left undone, and the directory must stay as it is. The copy is in the folder for temporary files, shares its blocks with the
 * directory where the file system can do that, and is removed by the disposal.
 */
export class StoppedStore implements AsyncDisposable {
  /** All that is not compacted, at the newest revision. */
  readonly image: StoreImage;
  readonly #opened: AsyncDisposable;

  private constructor(image: StoreImage, opened: AsyncDisposable) {
    this.image = image;
    this.#opened = opened;
  }

  /**
   * Rejects with ConfigError if the directory holds no store, or that of a cluster, is damaged, or changes meanwhile; and with the
   * signal's reason.
   */
  static async open(dataDir: string, { logger, signal }: StoppedStoreParts): Promise<StoppedStore> {
    await using opened = new AsyncDisposableStack();
    const folder = await mkdtemp(join(tmpdir(), 'engram-stopped-'));
    opened.defer(() => rm(folder, { recursive: true, force: true }));
    await copyStore(dataDir, folder, signal);
    const configuration = await readConfiguration([`--data-dir=${folder}`], {});
    if (configuration.kind !== 'config') throw new ConfigError('the data directory alone configures no node');
    const clock = new SystemClock();
    const parts = { clock, random: new SystemRandom(), logger };
    try {
      const { storage, identity } = await openData(configuration.config, { ...parts, loop: clock.loop });
      const { memberId, startCount } = identity;
      const onFatal = (cause: Error): void => logger.error({ err: cause }, 'the copy of the store takes no writes');
      const options = { ...parts, loop: clock.loop, storage, memberId, epoch: epoch(startCount), onFatal };
      // It owns the storage from here on, unless it cannot be opened.
      const opening = openBackend(options).catch(async (error: unknown) => {
        await storage[Symbol.asyncDispose]();
        throw error;
      });
      const backend = opened.use(await opening);
      const image = opened.use(await backend.image(signal));
      return new StoppedStore(image, opened.move());
    } catch (cause) {
      signal.throwIfAborted();
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new ConfigError(`cannot read ${dataDir}: ${why.replaceAll(folder, dataDir)}`, { cause });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened[Symbol.asyncDispose]();
  }
}

/** What makes a file another one than before. */
interface Seen {
  readonly path: string;
  readonly ino: bigint;
  readonly size: bigint;
  readonly mtimeNs: bigint;
}

async function copyStore(dataDir: string, to: string, signal: AbortSignal): Promise<void> {
  if (holdsCopyOfCluster(dataDir)) {
    throw new ConfigError(
      `${dataDir} holds the copy of a member of a cluster, whose data is in TiKV: inspect the cluster`,
    );
  }
  const before = await seen(dataDir);
  if (before.length === 0) throw new ConfigError(`${dataDir} holds no store`);
  for (const { path } of before) {
    signal.throwIfAborted();
    const target = join(ownFolder(to), relative(ownFolder(dataDir), path));
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    await copyFile(path, target, constants.COPYFILE_FICLONE);
  }
  const after = await seen(dataDir);
  if (after.length === before.length && after.every((file, at) => isSame(file, before[at]!))) return;
  throw new ConfigError(
    `${dataDir} has changed while it was copied: stop the node that runs on it, or inspect that node`,
  );
}

const isSame = (left: Seen, right: Seen): boolean =>
  left.path === right.path && left.ino === right.ino && left.size === right.size && left.mtimeNs === right.mtimeNs;

async function seen(dataDir: string): Promise<readonly Seen[]> {
  const files: Seen[] = [];
  for (const root of storeFiles(ownFolder(dataDir))) {
    for (const path of await filesBelow(root)) {
      const { ino, size, mtimeNs } = await stat(path, { bigint: true });
      files.push({ path, ino, size, mtimeNs });
    }
  }
  return files;
}

async function filesBelow(root: string): Promise<readonly string[]> {
  if (!(await stat(root)).isDirectory()) return [root];
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}
