import type { RaftBatch, RaftState } from './raft-state.ts';

/**
 * The storage of one member's Raft state: a file, or a key in shared storage. A forgotten vote can be given twice, so if
 * the state is lost, the member's id is lost with it. Contract, checked by `raftStorageContract` on every adapter:
 * - `save` is durable before it resolves, and all or nothing across a crash at any instant. Saves come one at a time.
 * - `load` returns the result of the saves before it (`afterBatch`), or undefined if there were none.
 * - `load` also takes the state over. From then on, saves through storages that loaded it before reject with ElectionError
 *   `storage-taken-over` and change nothing, even saves that are under way. So a paused process, or a second process of the
 *   same member, can't vote beside its successor. A save before the first load is an assertion.
 * - The storage keeps no reference to the caller's bytes.
 */
export interface RaftStorage {
  load(): Promise<RaftState | undefined>;
  /** Rejects if the batch is not known to be durable. The member stops then, and its next start finds out. */
  save(batch: RaftBatch): Promise<void>;
  /**
   * Whether no other storage has taken the state over since this one was loaded, at some moment after the call. Changes
   * nothing. Rejects if storage does not tell, and with the signal's reason if it aborts. To be called after `load`.
   */
  isOwned(signal: AbortSignal): Promise<boolean>;
}
