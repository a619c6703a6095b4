import { Store } from '../support/store.ts';
import { figure } from '../support/statistics.ts';
import { fill, type FillOptions } from './fill.ts';
import type { CommandCost } from './measured-command.ts';
import { save } from './snapshot.ts';
import { digestOf, type StoreDigest } from './store-digest.ts';

/** What an etcd held when its snapshot was saved. */
export interface SavedSource {
  /** Revisions that can be read. */
  readonly readable: readonly number[];
  readonly digest: StoreDigest;
  readonly cost: CommandCost;
}

/** Fills an etcd below `folder`, and saves its snapshot to `file`. The etcd is gone afterwards. */
export async function saveFilledEtcd(folder: string, file: string, options: FillOptions): Promise<SavedSource> {
  await using source = await Store.start('etcd', folder);
  console.error('fills an etcd');
  const readable = await fill(source, options);
  console.error('reads it');
  const digest = await digestOf(source.target, readable);
  return { readable, digest, cost: await save(source.target, file) };
}

/** For a report: a row for each part of a digest. */
export const digestRows = (digest: StoreDigest): readonly (readonly string[])[] =>
  [...digest].map(([name, line]) => [name, line.replace(/[0-9a-f]{52}$/, '')]);

/** For a report. */
export const filledNote = ({ updates, leases, users }: FillOptions): string =>
  `${figure(updates)} updates, half of them compacted; ${figure(leases)} leases; ${figure(users)} users`;
