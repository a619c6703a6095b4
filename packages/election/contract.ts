// What every place for a member's Raft state must do, as a test suite: import it in a test and pass what makes one.
export { raftStorageContract, type RaftStorageBed } from './contract/raft-storage-contract.ts';
