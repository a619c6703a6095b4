import { logContract, valuesContract } from '@engram/storage/contract';
import { TikvBed } from './tikv-bed.ts';

logContract('TiKV with a copy', () => TikvBed.make({ local: 'disk' }));
valuesContract('TiKV with a copy', () => TikvBed.make({ local: 'disk' }));
logContract('TiKV without a disk', () => TikvBed.make({ local: 'memory' }));
valuesContract('TiKV without a disk', () => TikvBed.make({ local: 'memory' }));
// The sizes are so small that most batches have several values, and a new segment begins after a few batches.
logContract('TiKV in small segments', () => TikvBed.make({ local: 'memory', segmentBytes: 2_000 }));
logContract('TiKV in small parts', () =>
  TikvBed.make({ local: 'disk', segmentBytes: 1_000_000, partBytesMax: 70_000 }),
);
