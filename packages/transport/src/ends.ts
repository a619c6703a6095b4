import type { Loop, Task } from '@engram/loop';

const END: Task = { work: 'client', caller: 'ends', stage: 'end' };

/** Ends a connection, later. */
export type EndLater = (end: () => void) => void;

/**
 * Ends connections in slices of the loop. The system takes up to a tenth of a millisecond to close a socket, and clients may
 * leave, or be given up, by the thousand in one turn of the event loop.
 */
export function endsOf(loop: Pick<Loop, 'later'>): EndLater {
  return (end) => loop.later(END, end);
}
