import type { StorageFile } from './file-system.ts';

/**
 * The most that is given back at a time. An append waits while the file system gives back space: on ext4 with discard one of 64 MiB took
 * 85 ms and held up durable writes for as long, and steps of 1 MiB, each of them synced, hold them up for 5 ms (measured).
 */
export const SHORTEN_BYTES = 1 << 20;

/** Shortens the file to `length` in steps, each of them synced. If `goesOn` says no, does the rest at once, and syncs nothing. */
export async function shorten(file: StorageFile, length: number, goesOn: () => boolean): Promise<void> {
  for (let at = await file.size(); at > length; ) {
    const stepwise = goesOn();
    at = stepwise ? Math.max(length, at - SHORTEN_BYTES) : length;
    await file.truncate(at);
    if (stepwise) await file.sync();
  }
}

/**
 * Gives back the space of a removed file that nobody reads, and closes it, which gives back what is left if a step fails or `goesOn` says
 * no. Never rejects.
 */
export async function giveBack(file: StorageFile, goesOn: () => boolean): Promise<void> {
  try {
    if (goesOn()) await shorten(file, 0, goesOn);
  } catch {
    // Nothing is lost: the file has no name any more.
  }
  await file.close().catch(() => {});
}
