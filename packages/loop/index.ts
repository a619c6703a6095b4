// The time of the event loop.
export { eachOf, eachSettling, finish, type Job, type PureJob, settled, type Turn, unhurried } from './src/turn.ts';
export { byteSteps } from './src/byte-steps.ts';
export { sorting, sortingIndices } from './src/sorting.ts';
export { type Task, WORK_CLASSES, type WorkClass } from './src/work-class.ts';
export { type ClassUsage, Loop, type LoopOptions } from './src/loop.ts';
export { Inbox } from './src/inbox.ts';
export { REST_MS_MAX, REST_TIMES, Rests } from './src/rests.ts';
export { MeasuredPace, type Pace, SeededPace, StepPace } from './src/pace.ts';
export { FRAMES_SHARED_SLICE_MS, TransportShare } from './src/transport-share.ts';
export {
  FRAMES_PHASE_MS,
  JOBS_BESIDE_MS,
  JOBS_TURN_MS,
  LATE_PHASE_MS,
  LONG_OUTPUT_BESIDE_MS,
  LONG_OUTPUT_REST_MS_MAX,
  LONG_OUTPUT_REST_TIMES,
  LONG_OUTPUT_TURN_MS,
  SLICE_BESIDE_MS,
  SLICE_MS,
  TRANSPORT_PHASE_MS,
  TURN_BESIDE_MS,
  TURN_MS,
} from './src/turn-parts.ts';
export { type LoopWatch, unwatched } from './src/loop-watch.ts';
