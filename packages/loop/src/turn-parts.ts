import { assert } from '@engram/core';

/** The longest turn of the event loop: the time that any request may wait for all other work together. */
export const TURN_MS = 10;

/**
 * Frames and writing, of all connections, in one phase of a turn: the event loop first calls for the input that is there, and then what
 * was asked for by `Clock.soon`. A turn has two.
 */
export const TRANSPORT_PHASE_MS = 3;
/** The part of it that frames may take. */
export const FRAMES_PHASE_MS = 2;
/** The part of a turn after which no further batch of a long output is written. */
export const LONG_OUTPUT_TURN_MS = 2.75;
/** Slices of jobs that begin in one turn. */
export const JOBS_TURN_MS = 2;
/** One slice of a job: the last one of a turn may begin just before JOBS_TURN_MS is used up. */
export const SLICE_MS = 2;
/**
 * The same three while clients wait for short answers (`ShortAnswers`). A request waits for the rest of a turn until it is read, and
 * a write for one more until its append is seen to have ended. Not always so short: short turns send less at a time, and lists
 * of 100,000 keys to clients that read slowly took a seventh more CPU.
 */
export const LONG_OUTPUT_BESIDE_MS = 0.5;
export const JOBS_BESIDE_MS = 1;
export const SLICE_BESIDE_MS = 0.5;
/**
 * Up to where such a turn is planned, by what its input has taken. The rest is for what cannot be planned: code that is compiled, steps
 * that take longer than usual, and what the runtime does for sockets that were closed.
 */
export const TURN_BESIDE_MS = 7;
/**
 * What is left of the phase behind the input in a turn whose input has taken its time. The kernel and the runtime take up to 0.1 ms for
 * each socket that begins, ends or is read, and a turn may have a hundred of them.
 */
export const LATE_PHASE_MS = 0.5;
/** A rest of an output of many answers beside others: so many times as long as what was written before it, and at most so long. */
export const LONG_OUTPUT_REST_TIMES = 4;
export const LONG_OUTPUT_REST_MS_MAX = 8;
/** Reads of files that block the loop, within the parts above, in every INLINE_EVERY_MS. */
export const INLINE_MS_MAX = 1;
export const INLINE_EVERY_MS = 4;

assert(2 * TRANSPORT_PHASE_MS + JOBS_TURN_MS + SLICE_MS <= TURN_MS, 'the parts of a turn are longer than the turn');
assert(
  Math.max(FRAMES_PHASE_MS, LONG_OUTPUT_TURN_MS) < TRANSPORT_PHASE_MS,
  'frames or long outputs have the whole phase',
);
assert(LATE_PHASE_MS <= TRANSPORT_PHASE_MS, 'a late turn has more than others');
assert(INLINE_MS_MAX < SLICE_MS, 'reads may block for a whole slice');
assert(TURN_BESIDE_MS <= TURN_MS, 'a turn is longer beside others than alone');
assert(SLICE_BESIDE_MS <= SLICE_MS && JOBS_BESIDE_MS <= JOBS_TURN_MS, 'slices are longer beside others than alone');
assert(LONG_OUTPUT_BESIDE_MS <= LONG_OUTPUT_TURN_MS, 'long output has more beside others than alone');
