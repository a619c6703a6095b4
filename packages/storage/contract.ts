// Test suites for every storage adapter. Import them in a test and pass a function that makes a bed.
export { logContract } from './contract/log-contract.ts';
export { valuesContract } from './contract/values-contract.ts';
export { directoryContract, type DirectoryBed, reasonOf } from './contract/directory-contract.ts';
export { type AppendingChild, crashContract, fullDiskContract } from './contract/crash-contract.ts';
export { groupedReadsContract } from './contract/grouped-reads-contract.ts';
export { type Damage, damages, DamagedCopies, flip, zero } from './contract/damage.ts';
export type { StorageBed } from './contract/storage-bed.ts';
