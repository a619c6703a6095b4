import { expect, test } from 'vitest';
import { checkpointPays } from '../src/checkpoint/checkpoint-policy.ts';

const MIB = 2 ** 20;

test.each([
  { mib: 127, records: 1e9, versions: 10, pays: false, why: 'a short log needs none' },
  { mib: 128, records: 2e5, versions: 1e5, pays: true, why: 'a small index costs little' },
  { mib: 149, records: 2.4e5, versions: 1e6, pays: false, why: 'the checkpoint costs more than the log' },
  { mib: 153, records: 2.4e5, versions: 1e6, pays: true, why: 'enough bytes' },
  { mib: 153, records: 1e4, versions: 1e6, pays: true, why: 'few records, but large ones to read' },
  { mib: 350, records: 2.4e6, versions: 1e7, pays: false, why: 'small records, too few for the index' },
  { mib: 360, records: 2.5e6, versions: 1e7, pays: true, why: 'small records, as many as pay' },
  { mib: 1300, records: 1e7, versions: 1e7, pays: true, why: 'every key new, and smaller than 160 bytes' },
])('$mib MiB with $records records behind $versions versions: $why', ({ mib, records, versions, pays }) => {
  expect(checkpointPays({ bytes: mib * MIB, records }, versions, 128 * MIB)).toBe(pays);
});
