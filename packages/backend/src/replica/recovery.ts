import {
  type CheckpointHeader,
  decodeCheckpointEntries,
  decodeCheckpointGarbage,
  decodeCheckpointHeader,
  isCheckpointGarbage,
} from '@engram/coder';
import {
  assert,
  type Clock,
  type Logger,
  type LogPosition,
  logPosition,
  type Revision,
  type VersionMeta,
} from '@engram/core';
import { KeyIndex } from '@engram/index';
import { Lessor } from '@engram/lease';
import { eachOf, type Job, type Loop, settled, type Task } from '@engram/loop';
import { type Storage, StorageTrimmedError, endOf, recordBytes } from '@engram/storage';
import { Applier } from '../apply/applier.ts';
import { decodeBatch } from '../apply/batch-decoder.ts';
import type { OnRecovery, RecoveryProgress } from './recovery-progress.ts';
import { ReplicatedState } from '../apply/replicated-state.ts';

export interface Recovered {
  /** Every record of the log has taken effect. */
  readonly applier: Applier;
  /** Where the newest checkpoint begins its replay; 1 without one. */
  readonly checkpointFrom: LogPosition;
  /** Bytes of the log after that checkpoint. */
  readonly replayedBytes: number;
  /** Records that storage may still hold although nothing needs them. */
  readonly garbage: readonly LogPosition[];
}

export interface RecoveryOptions {
  readonly minLeaseTtlSeconds: number;
  readonly clock: Clock;
  readonly loop: Loop;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** See `KeyIndex`. */
  readonly keyPagesMax?: number;
  /** See `ReplicatedState`. */
  readonly firstRevision?: Revision | undefined;
  readonly onProgress?: OnRecovery;
}

/** A long recovery logs its progress at this interval. */
const PROGRESS_LOG_MS = 5_000;

const FIRST_POSITION = logPosition(1);
/** No client is served before its end. Meanwhile the node answers Raft's messages, and probes: that it is not ready. */
const RECOVER: Task = { work: 'catch-up', caller: 'recovery', stage: 'recover' };
/** Attempts, if the log is trimmed again and again while it is read. */
const ATTEMPTS_MAX = 5;

/**
 * Rebuilds the state from the newest checkpoint and the log after it, up to its end. Damage rejects with the
 * storage's or the coder's error; nothing is skipped. If nodes share the log, another node may replace the image that
 * is being read, or trim the log after it. The recovery then begins again with the newer image.
 */
export async function recover(storage: Storage, options: RecoveryOptions): Promise<Recovered> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await options.loop.run(RECOVER, rebuilding(storage, options));
    } catch (error) {
      if (!(error instanceof StorageTrimmedError) || attempt === ATTEMPTS_MAX) throw error;
      options.logger.info({ error: String(error) }, 'begins again: the log was trimmed while it was read');
    }
  }
}

function* rebuilding(storage: Storage, options: RecoveryOptions): Job<Recovered> {
  const { loop } = options;
  const startMs = options.clock.nowMs();
  const report = reporter(options);
  const { state, from, garbage } = yield* loadCheckpoint(storage, options, report);
  const applier = new Applier(state, from, loop);
  let replayedBytes = 0;
  const replayed = (): void => {
    const end = storage.log.knownEnd;
    const of = end === undefined ? undefined : Math.max(end, applier.next) - from;
    report({ phase: 'log', done: applier.next - from, of, bytes: replayedBytes, bytesOf: undefined });
  };
  replayed();
  state.index.beginReplay();
  yield* eachOf(storage.log.read(from, options.signal), function* (batch) {
    assert(batch.first === applier.next, `the log goes on at ${batch.first}, not at ${applier.next}`);
    yield* applier.apply(yield* decodeBatch(batch, state.index, true, loop), endOf(batch));
    replayedBytes += recordBytes(batch.records);
    replayed();
  });
  yield* state.index.endReplay(loop);
  yield* state.attachKeys(loop);
  options.logger.info(
    {
      revision: state.revision,
      'compact-revision': state.compactRevision,
      keys: state.index.liveKeys,
      leases: state.lessor.size,
      replayed: applier.next - from,
      'took-ms': Math.round(options.clock.nowMs() - startMs),
    },
    'recovered the store from its log',
  );
  return { applier, checkpointFrom: from, replayedBytes, garbage };
}

/** Reports to `onProgress` each time, and to the logger every PROGRESS_LOG_MS. */
function reporter({ clock, logger, onProgress }: RecoveryOptions): OnRecovery {
  let loggedMs = clock.nowMs();
  return (progress: RecoveryProgress) => {
    onProgress?.(progress);
    if (clock.nowMs() - loggedMs < PROGRESS_LOG_MS) return;
    loggedMs = clock.nowMs();
    logger.info({ ...progress }, 'is recovering the store');
  };
}

function* loadCheckpoint(
  storage: Storage,
  options: RecoveryOptions,
  report: OnRecovery,
): Job<{ state: ReplicatedState; from: LogPosition; garbage: readonly LogPosition[] }> {
  const checkpoint = yield* settled(storage.values.loadCheckpoint());
  const { keyPagesMax } = options;
  const loader = KeyIndex.loader(keyPagesMax === undefined ? {} : { keyPagesMax });
  const garbage: LogPosition[] = [];
  const headers: CheckpointHeader[] = [];
  if (checkpoint !== undefined) {
    const { image } = checkpoint;
    const phase = image === undefined ? 'checkpoint' : 'image';
    let [done, bytes] = [0, 0];
    const loaded = (): void => report({ phase, done, of: image?.chunks, bytes, bytesOf: image?.bytes });
    loaded();
    const add = (key: Uint8Array, versions: readonly VersionMeta[]): void => {
      for (const version of versions) loader.add(key, version);
    };
    yield* eachOf(checkpoint.chunks(options.signal), function* (chunk) {
      if (headers.length === 0) headers.push(decodeCheckpointHeader(chunk));
      else if (isCheckpointGarbage(chunk))
        for (const position of decodeCheckpointGarbage(chunk)) garbage.push(position);
      else yield* decodeCheckpointEntries(chunk, add, options.loop);
      done += 1;
      bytes += chunk.length;
      loaded();
    });
    assert(headers[0]?.nextPosition === checkpoint.from, 'a checkpoint does not begin where it says');
  }
  const lessor = new Lessor({ minTtlSeconds: options.minLeaseTtlSeconds });
  const state = new ReplicatedState(loader.finish(), lessor, options.clock, options.firstRevision);
  for (const header of headers) state.adopt(header);
  return { state, from: checkpoint?.from ?? FIRST_POSITION, garbage };
}
