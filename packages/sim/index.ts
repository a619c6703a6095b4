// The simulated world in which tests run members: one seed decides everything that happens in it. For tests only.
export { Prng } from './src/prng.ts';
export { Scheduler, type SchedulerOptions } from './src/scheduler.ts';
export { SimClock, type SimClockOptions } from './src/sim-clock.ts';
export { SimHost, type SimHostOptions, SimProcess } from './src/sim-host.ts';
export { SimNetwork, type LinkFaults } from './src/sim-network.ts';
export { SimStorageFaults, type StorageTiming, type FailingOperation } from './src/sim-storage-faults.ts';
// One log that several members share.
export { SimCopy, SharedLog, SharedLogStorage } from './src/shared-log.ts';
export { RemoteLog, type LostAppend, type RemoteLogOptions } from './src/remote-log.ts';
export {
  type CrashKind,
  type CrashPoint,
  type DiskFault,
  type DiskOperation,
  diskOperations,
  SimDisk,
} from './src/sim-disk.ts';
export { DiskError } from './src/disk-error.ts';
// For tests and benchmarks whose files and sockets are real.
export { realClock, realRandom } from './src/real-clock.ts';
export { quiet, TestLogger } from './src/loggers.ts';
export { StallMeter, type Stall } from './src/stall-meter.ts';
// What docs/ARCHITECTURE.md says of the paths through the code, and what ran.
export { namedRooms, PassedRooms } from './src/passed-rooms.ts';
// Tests whose commands and output are a file.
export { replayFile, replayTranscript } from './src/transcripts.ts';
export { parseTxn } from './src/txn-text.ts';
