import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { diskBytes } from '../support/disk-size.ts';
import type { LoadTarget } from '../support/load.ts';
import type { StoreName } from '../support/programs.ts';
import { Store } from '../support/store.ts';
import { ClusterTarget, startEngram, startEtcd } from './cluster.ts';

/** A cluster whose leader gets the requests, and whose processes are measured together. */
export interface ClusterStore extends LoadTarget, AsyncDisposable {
  diskMb(): number;
  readonly output: string;
}

/** A store on its own, or a cluster of three for any other number of members. */
export const storeOf = (members: number, name: StoreName, folder: string): Promise<Store | ClusterStore> =>
  members === 1 ? Store.start(name, folder) : clusterAt(name, folder);

async function clusterAt(name: StoreName, folder: string): Promise<ClusterStore> {
  const path = join(folder, name);
  mkdirSync(path);
  const cluster = await (name === 'engram' ? startEngram(path) : startEtcd(path));
  const target = await ClusterTarget.at(cluster, 'leader');
  return {
    target: target.target,
    usage: () => target.usage(),
    idle: (maxMs) => target.idle(maxMs),
    diskMb: () => diskBytes(path) / 2 ** 20,
    output: '',
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  };
}
