import {
  type CheckpointHeader,
  decodeCheckpointEntries,
  decodeCheckpointGarbage,
  decodeCheckpointHeader,
  isCheckpointGarbage,
} from '@engram/coder';
import { assert, type Clock, type Logger, type LogPosition, logPosition } from '@engram/core';
import { KeyIndex } from '@engram/index';
import { Lessor } from '@engram/lease';
import type { Storage } from '@engram/storage';
import { ReplicatedState } from './replicated-state.ts';

export interface Recovered {
  readonly state: ReplicatedState;
  /** The position that the next record takes. */
  readonly next: LogPosition;
  /** Where the newest checkpoint begins its replay; 1 without one. */
  readonly checkpointFrom: LogPosition;
  /** Of the log behind that checkpoint. */
  readonly replayedBytes: number;
  /** Records that storage may still hold although nothing needs them. */
  readonly garbage: readonly LogPosition[];
}

const FIRST_POSITION = logPosition(1);

/**
 * Rebuilds the state: the newest checkpoint, then the log behind it. `next` is where the sealed log goes on; a log that
 * ends elsewhere is a broken invariant. Damage rejects with the storage's or the coder's error; nothing is skipped.
 */
export async function recover(
  storage: Storage,
  next: LogPosition,
  options: { minLeaseTtlSeconds: number; clock: Clock; logger: Logger; signal: AbortSignal },
): Promise<Recovered> {
  const startMs = options.clock.nowMs();
  const lessor = new Lessor({ minTtlSeconds: options.minLeaseTtlSeconds });
  const checkpoint = await storage.values.loadCheckpoint();
  const loader = KeyIndex.loader();
  let header: CheckpointHeader | undefined;
  const garbage: LogPosition[] = [];
  if (checkpoint !== undefined) {
    for await (const chunk of checkpoint.chunks(options.signal)) {
      if (header === undefined) header = decodeCheckpointHeader(chunk);
      else if (isCheckpointGarbage(chunk))
        for (const position of decodeCheckpointGarbage(chunk)) garbage.push(position);
      else {
        decodeCheckpointEntries(chunk, (key, versions) => {
          for (const version of versions) loader.add(key, version);
        });
      }
    }
    assert(
      header !== undefined && header.nextPosition === checkpoint.from,
      'a checkpoint does not begin where it says',
    );
  }
  const state = new ReplicatedState(loader.finish(), lessor, options.clock);
  if (header !== undefined) adoptHeader(state, header, options.clock);
  const from = checkpoint?.from ?? FIRST_POSITION;
  let position = from;
  let replayedBytes = 0;
  for await (const batch of storage.log.read(from, options.signal)) {
    assert(batch.first === position, `the log goes on at ${batch.first}, not at ${position}`);
    for (const record of batch.records) {
      state.apply(record, position);
      replayedBytes += record.length;
      position = logPosition(position + 1);
    }
  }
  assert(position === next, `the log ends at ${position}, but its next position is ${next}`);
  state.attachKeys();
  lessor.extendAll(options.clock.nowMs());
  options.logger.info(
    {
      revision: state.revision,
      'compact-revision': state.compactRevision,
      keys: state.index.liveKeys,
      leases: lessor.size,
      replayed: position - from,
      'took-ms': Math.round(options.clock.nowMs() - startMs),
    },
    'recovered the store from its log',
  );
  return { state, next, checkpointFrom: from, replayedBytes, garbage };
}

function adoptHeader(state: ReplicatedState, header: CheckpointHeader, clock: Clock): void {
  state.revision = header.revision;
  state.compactRevision = header.compactRevision;
  for (const lease of header.leases) state.lessor.grant(lease.id, lease.ttlSeconds, clock.nowMs());
  for (const alarm of header.alarms) state.applyAlarm(alarm, true);
}
