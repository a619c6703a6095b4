// The contract of `RaftStorage` as a test suite. Import it in a test and pass a function that makes a storage.
export { raftStorageContract, type RaftStorageBed } from './contract/raft-storage-contract.ts';
