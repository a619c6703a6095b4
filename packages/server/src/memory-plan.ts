import { totalmem } from 'node:os';
import { ConfigError, type FlagValues } from './flag-values.ts';

/** What a node may hold in memory, by what it is for. Bytes, but for `streams`. */
export interface MemoryBounds {
  /** What all of them follow from; undefined: nobody has set a limit. */
  readonly limitBytes: number | undefined;
  /** Of requests, and of answers, of all clients: see ClientBudgets of core. */
  readonly requestBytes: number;
  readonly answerBytes: number;
  readonly streams: number;
  /** Watchers of all clients. */
  readonly watcherBytes: number;
  /** Writes that wait for the log. */
  readonly logQueueBytes: number;
  /** Events for watchers that read history. */
  readonly watchBacklogBytes: number;
  readonly valueCacheBytes: number;
  /** For --local-values=memory. */
  readonly localValuesBytes: number;
}

const MIB = 1024 * 1024;
/** Runtime, code, young generation, and the buffers of sockets and of the log: what an idle node takes. */
const OWN_BYTES = 160 * MIB;
/** Below it a node could not hold a few requests of usual size beside itself. */
export const MEMORY_LIMIT_MIN_BYTES = 256 * MIB;
/** An open stream, with what its handler keeps. */
const STREAM_BYTES = 2 * 1024;

/**
 * What of the limit, less OWN_BYTES, each of them gets at most. Together with the values of a member that keeps them in
 * memory it is less than two thirds. The rest is for the index, which grows with the data, and for what waits to be collected.
 */
const shares = {
  requestBytes: 1 / 8,
  answerBytes: 1 / 8,
  streamBytes: 1 / 32,
  watcherBytes: 1 / 32,
  logQueueBytes: 1 / 16,
  watchBacklogBytes: 1 / 32,
  valueCacheBytes: 1 / 8,
  localValuesBytes: 1 / 8,
};

/**
 * All bounds on memory. A flag that was given stands; the others are their defaults, or their share of the limit where that
 * is less. Throws ConfigError for a limit that is too low, and for bounds of nothing.
 *
 * `constrainedBytes` is what the process may take by its control group (node: process.constrainedMemory).
 */
export function memoryBounds(
  values: FlagValues,
  warnings: string[],
  constrainedBytes: number = process.constrainedMemory(),
  machineBytes: number = totalmem(),
): MemoryBounds {
  const limitBytes = limitOf(values, warnings, constrainedBytes, machineBytes);
  const spareBytes = limitBytes === undefined ? Number.POSITIVE_INFINITY : limitBytes - OWN_BYTES;
  const bound = (flag: string, share: number): number => {
    const value = values.number(flag);
    return values.isSet(flag) ? value : Math.min(value, Math.floor(share));
  };
  const bounds = {
    limitBytes,
    requestBytes: bound('max-received-bytes', shares.requestBytes * spareBytes),
    answerBytes: bound('max-answer-bytes', shares.answerBytes * spareBytes),
    streams: bound('max-streams', (shares.streamBytes * spareBytes) / STREAM_BYTES),
    watcherBytes: bound('max-watcher-bytes', shares.watcherBytes * spareBytes),
    logQueueBytes: bound('log-queue-bytes', shares.logQueueBytes * spareBytes),
    watchBacklogBytes: bound('watch-backlog-bytes', shares.watchBacklogBytes * spareBytes),
    valueCacheBytes: bound('value-cache-bytes', shares.valueCacheBytes * spareBytes),
    localValuesBytes: bound('local-values-bytes', shares.localValuesBytes * spareBytes),
  };
  for (const flag of [
    'max-received-bytes',
    'max-answer-bytes',
    'max-streams',
    'max-watcher-bytes',
    'log-queue-bytes',
  ]) {
    if (values.isSet(flag) && values.number(flag) === 0) throw new ConfigError(`--${flag} must be above 0`);
  }
  return bounds;
}

function limitOf(
  values: FlagValues,
  warnings: string[],
  constrainedBytes: number,
  machineBytes: number,
): number | undefined {
  const given = values.number('memory-limit');
  if (given < 0) return undefined;
  if (given > 0) {
    if (given >= MEMORY_LIMIT_MIN_BYTES) return given;
    throw new ConfigError(`--memory-limit=${given}: a node needs at least ${MEMORY_LIMIT_MIN_BYTES} bytes`);
  }
  // Where there is no bound the system says so by 0, or by more than the machine has.
  if (constrainedBytes <= 0 || constrainedBytes >= machineBytes) return undefined;
  if (constrainedBytes >= MEMORY_LIMIT_MIN_BYTES) return constrainedBytes;
  warnings.push(
    `the control group allows ${constrainedBytes} bytes of memory: a node needs at least ${MEMORY_LIMIT_MIN_BYTES}`,
  );
  return MEMORY_LIMIT_MIN_BYTES;
}
