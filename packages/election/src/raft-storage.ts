import type { RaftBatch, RaftState } from './raft-state.ts';

/**
 * Where one member keeps its Raft state: a file, or a key in shared storage. A vote that is forgotten can be given twice,
 * so what is lost here is lost with the member's id. Contract, checked by `raftStorageContract` on every adapter:
 * - `save` is durable before it resolves, and all or nothing across a crash at any instant. Saves come one at a time.
 * - `load` gives what the saves before it have made (`afterBatch`), or undefined when there were none.
 * - `load` also takes the state over: from then on saves through whatever loaded it before reject with ElectionError
 *   `storage-taken-over` and change nothing, also those that were under way. So a process that was paused, or a second
 *   one of the same member, can't vote beside its successor. A save before the first load is an assertion.
 * - The storage keeps no reference to the bytes that it was given.
 */
export interface RaftStorage {
  load(): Promise<RaftState | undefined>;
  /** Rejects when it is not known to be durable: the member stops then, and its next start finds out. */
  save(batch: RaftBatch): Promise<void>;
}
