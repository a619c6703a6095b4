import { assert, type Clock, joinU64, type Logger, type Random, sleep } from '@engram/core';
import {
  afterBatch,
  decodeRaftState,
  ElectionError,
  encodeRaftState,
  NEW_RAFT_STATE,
  type RaftBatch,
  type RaftState,
  type RaftStorage,
} from '@engram/election';
import { type CallOptions, isTikvError, type TikvClient } from '@engram/tikv-client';
import { timestampText } from '@engram/tso';
import { hiddenFrom } from './log/hidden-from.ts';
import type { LogKeys } from './format/log-keys.ts';

export interface TikvRaftStorageOptions {
  readonly client: TikvClient;
  readonly keys: LogKeys;
  readonly memberId: bigint;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Once it is aborted, nothing is tried again. */
  readonly signal: AbortSignal;
}

const OWNER_BYTES = 8;
const TRY_TIMEOUT_MS = 3000;
const RETRY_MS = 200;
/** Of so many tries one asks why it was refused. */
const HIDDEN_TRIES = 50;

/**
 * A member's Raft state as one value in TiKV, so that a node without a disk cannot vote twice. The value begins with its owner:
 * the process that loaded it last. A save that finds another owner changes nothing. While TiKV or PD does not answer, a save
 * waits and tries again: elections make no progress then, and no state is lost. So it is while the timestamps of PD lie below the
 * last save, because PD went back. A client that PD's timestamps have ended can do nothing any more: the member ends, and starts
 * with another one.
 */
export class TikvRaftStorage implements RaftStorage {
  readonly #options: TikvRaftStorageOptions;
  readonly #key: Uint8Array;
  readonly #owner: bigint;
  #state: RaftState | undefined;
  #loaded = false;

  constructor(options: TikvRaftStorageOptions) {
    this.#options = options;
    this.#key = options.keys.raft(options.memberId);
    this.#owner = joinU64(options.random.uint32(), options.random.uint32());
  }

  async load(): Promise<RaftState | undefined> {
    const bytes = await this.#write((found) => found?.subarray(OWNER_BYTES) ?? new Uint8Array(0));
    this.#state = bytes.length === 0 ? undefined : decodeRaftState(bytes);
    this.#loaded = true;
    return this.#state;
  }

  async save(batch: RaftBatch): Promise<void> {
    assert(this.#loaded, 'saved before it was loaded');
    const state = afterBatch(this.#state ?? NEW_RAFT_STATE, batch);
    // Encoded before the first wait, because the caller's bytes are not kept.
    const bytes = encodeRaftState(state);
    await this.#write((found) => {
      if (found === undefined || ownerOf(found) !== this.#owner) {
        throw new ElectionError('storage-taken-over', 'another process has loaded it');
      }
      return bytes;
    });
    this.#state = decodeRaftState(bytes);
  }

  /** One read at the newest timestamp: PD is not asked. */
  async isOwned(signal: AbortSignal): Promise<boolean> {
    assert(this.#loaded, 'asked before it was loaded');
    signal.throwIfAborted();
    const found = await this.#options.client.get(this.#key, { signal, timeoutMs: TRY_TIMEOUT_MS });
    return found !== undefined && ownerOf(found) === this.#owner;
  }

  /** Replaces the state by what `next` makes of the value, once. Returns the new state. */
  async #write(next: (found: Uint8Array | undefined) => Uint8Array): Promise<Uint8Array> {
    const { client, signal, logger } = this.#options;
    for (let tries = 0; ; tries += 1) {
      signal.throwIfAborted();
      try {
        const call = { signal, timeoutMs: TRY_TIMEOUT_MS };
        const txn = await client.begin(call);
        const found = await txn.get(this.#key, call);
        if (await this.#isOlder(found, signal)) {
          if (tries % HIDDEN_TRIES === 0) await this.#reportIfHidden(call);
          await this.#pause();
          continue;
        }
        const written = next(found);
        txn.put(this.#key, owned(this.#owner, written));
        const outcome = await txn.commitOnePhase(call);
        if (outcome.kind === 'committed') return written;
        if (outcome.kind === 'undetermined') {
          const settled = await outcome.settle({ signal });
          if (settled.kind === 'committed') return written;
        } else if (tries % HIDDEN_TRIES === 1) await this.#reportIfHidden(call);
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        if (!isTikvError(error)) throw error;
        logger.warn({ error: error.message }, 'the Raft state of this member cannot be written: trying again');
      }
      await this.#pause();
    }
  }

  /** Whether the value of another owner is older than this process' own, which the timestamp of the read does not show. */
  async #isOlder(found: Uint8Array | undefined, signal: AbortSignal): Promise<boolean> {
    if (!this.#loaded || (found !== undefined && ownerOf(found) === this.#owner)) return false;
    return await this.isOwned(signal);
  }

  /** Logs where the state cannot be written because a snapshot does not show it. */
  async #reportIfHidden(call: CallOptions): Promise<void> {
    const { client, logger } = this.#options;
    const hidden = await hiddenFrom(client, this.#key, call);
    if (hidden === undefined) return;
    const text =
      'the timestamps of PD went back: the Raft state of this member waits until they have passed the last save';
    logger.error({ timestamp: timestampText(hidden) }, text);
  }

  #pause(): Promise<void> {
    const { clock, signal } = this.#options;
    return sleep(clock, RETRY_MS, signal);
  }
}

function owned(owner: bigint, state: Uint8Array): Uint8Array {
  const value = Buffer.alloc(OWNER_BYTES + state.length);
  value.writeBigUInt64BE(owner);
  value.set(state, OWNER_BYTES);
  return value;
}

const ownerOf = (value: Uint8Array): bigint =>
  Buffer.from(value.buffer, value.byteOffset, OWNER_BYTES).readBigUInt64BE();

/** The Raft state of each member, by its id; empty if the member has not saved one yet. */
export async function readRaftStates(
  client: TikvClient,
  keys: LogKeys,
  timeoutMs: number,
): Promise<ReadonlyMap<bigint, Uint8Array>> {
  const states = new Map<bigint, Uint8Array>();
  const txn = await client.begin({ timeoutMs });
  const { start, end } = keys.rafts;
  for await (const { key, value } of txn.snapshot.scan(start, end, { timeoutMs })) {
    states.set(keys.memberOf(key), value.subarray(OWNER_BYTES));
  }
  return states;
}
