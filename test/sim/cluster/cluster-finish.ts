import { SimCopy, SharedLogStorage } from '@engram/sim';
import type { Storage } from '@engram/storage';
import { LifeImages } from './cluster-images.ts';
import type { ClusterWorld } from './cluster-world.ts';
import { compareWithRecovery, finishMembers } from './members-finish.ts';

/** Ends the run: see `finishMembers`. A new node that reads only the log, and one that starts from the image, agree as well. */
export async function finish(world: ClusterWorld): Promise<void> {
  await finishMembers(world);
  const { log, images } = world;
  const storage = new SharedLogStorage(log, new SimCopy());
  await compareWithRecovery(world, storage, log.sealed.epoch, 'the recovered store');
  if (images.image !== undefined)
    await compareWithRecovery(world, storageFromImage(world), log.sealed.epoch, 'the store of the image');
}

/** Storage with the newest image and the rest of the log. */
function storageFromImage({ images, log, spareHost, random, settings }: ClusterWorld): Storage {
  const storage = new SharedLogStorage(log, new SimCopy());
  const process = spareHost.start();
  const parts = { id: 99n, images, process, random: random.fork('spare'), delayMsMax: settings.logDelayMsMax };
  const shared = new LifeImages(parts);
  return {
    log: shared.log(storage.log),
    values: shared.values(storage.values),
    [Symbol.asyncDispose]: () => storage[Symbol.asyncDispose](),
  };
}
