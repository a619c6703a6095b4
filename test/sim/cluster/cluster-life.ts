import { RemoteLog, type SharedLog, SharedLogStorage, SimStorageFaults } from '@engram/sim';
import { type ClusterImages, imagePolicyOf, LifeImages } from './cluster-images.ts';
import type { NodeDisks } from './cluster-node.ts';
import { type LifeStorage, MemberLife, type MemberLifeParts } from './member-life.ts';
import type { ClusterSettings } from './settings.ts';
import { SimRaftStorage } from './sim-raft-storage.ts';

export { urlOf } from './member-life.ts';

export interface ClusterLifeParts extends MemberLifeParts {
  readonly settings: ClusterSettings;
  readonly disks: NodeDisks;
  readonly log: SharedLog;
  readonly images: ClusterImages;
}

/** One life of a member over a model of the shared log. */
export class ClusterLife extends MemberLife {
  readonly log: RemoteLog;
  readonly raft: SimRaftStorage;
  readonly values: SimStorageFaults;
  readonly #parts: ClusterLifeParts;

  constructor(parts: ClusterLifeParts) {
    super(parts);
    const { disks, random, settings, log, onAppending } = parts;
    const { process } = this;
    this.#parts = parts;
    this.log = new RemoteLog({
      log,
      process,
      random,
      delayMsMax: settings.logDelayMsMax,
      timeoutMs: settings.logTimeoutMs,
      onAppending,
    });
    this.values = new SimStorageFaults(process, random, {
      delayMsMax: settings.storageDelayMsMax,
      atOnce: settings.storageAtOnce,
      cold: settings.storageCold,
    });
    this.raft = new SimRaftStorage(disks.raft, process, random, settings.raftDelayMsMax);
  }

  get forgotten(): boolean {
    return this.#parts.images.forgotten.has(this.id);
  }

  heal(): void {
    this.log.heal();
    this.raft.heal();
    this.values.heal();
  }

  protected async openStorage(): Promise<LifeStorage> {
    const { disks, settings, log } = this.#parts;
    const local = new SharedLogStorage(log, disks.copy, this.values);
    const shared = settings.imageEveryBytes === 0 ? undefined : this.#shared();
    return {
      storage: {
        log: shared?.log(this.log) ?? this.log,
        values: shared?.values(local.values) ?? local.values,
        ...(shared === undefined ? {} : { image: shared }),
        [Symbol.asyncDispose]: async () => {
          await this.log.close();
          await local[Symbol.asyncDispose]();
        },
      },
      raftStorage: this.raft,
      probe: (signal) => this.log.probe(signal),
      imagePolicy: imagePolicyOf(settings.imageEveryBytes, settings.imagePageBytes),
    };
  }

  #shared(): LifeImages {
    const { id, images, random, settings } = this.#parts;
    const { process } = this;
    return new LifeImages({ id, images, process, random: random.fork('images'), delayMsMax: settings.logDelayMsMax });
  }
}
