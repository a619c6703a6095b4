import type { Mutant } from './mutant.ts';

const storage = 'packages/storage-tikv/src';

/** Defects of members on the real storage, which the third kind of seed must find. */
export const tikvMutants: readonly Mutant[] = [
  {
    name: 'trim-deletes-seals',
    what: 'a trim deletes the seals that refuse what a deposed leader of a deleted segment still sends',
    edits: [
      {
        file: `${storage}/log-trim.ts`,
        find: 'await client.admin.deleteRange(keys.segmentStart(segment), keys.seal(segment), { signal, timeoutMs });',
        replace: `const start = segment === 1 ? keys.segmentStart(1) : keys.seal(segment - 1);
      await client.admin.deleteRange(start, keys.seal(segment), { signal, timeoutMs });`,
      },
    ],
  },
];
