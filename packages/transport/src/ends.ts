import type { Socket } from 'node:net';
import type { Loop, Task } from '@engram/loop';

const END: Task = { work: 'client', caller: 'ends', stage: 'end' };

/**
 * Ends connections in slices of the loop. The system takes up to a tenth of a millisecond to close a socket, and clients may
 * leave, be given up, or lose their network, by the thousand in one turn of the event loop.
 */
export class Ends {
  readonly #loop: Pick<Loop, 'later'>;
  /** One of its slices runs. */
  #ending = false;
  #stopped = false;

  constructor(loop: Pick<Loop, 'later'>) {
    this.#loop = loop;
  }

  /** Ends a connection, later. */
  later(end: () => void): void {
    this.#loop.later(END, () => {
      this.#ending = true;
      try {
        end();
      } finally {
        this.#ending = false;
      }
    });
  }

  /** From now on sockets are closed where they are destroyed: nobody is served any more. */
  stop(): void {
    this.#stopped = true;
  }

  /**
   * From now on the socket is closed in such a slice, whoever destroys it: node destroys a socket by itself, at once, when
   * its client has reset it. Until then it is `destroyed`, what comes is dropped, and its event `close` has not come.
   */
  pace(socket: Socket): void {
    const close = socket._destroy;
    socket._destroy = (error, done) => {
      if (!this.#ending && !this.#stopped && dropsInput(socket)) this.later(() => close.call(socket, error, done));
      else close.call(socket, error, done);
    };
  }
}

const drop = (): void => {};

/**
 * Drops what still comes for a destroyed socket, which node would take for an error of its own. Node does the same where it closes
 * a handle. The handle is undocumented: if a later node keeps it in another place, sockets are closed at once.
 */
function dropsInput(socket: Socket): boolean {
  const handle: unknown = '_handle' in socket ? socket._handle : undefined;
  if (typeof handle !== 'object' || handle === null || !('onread' in handle)) return false;
  handle.onread = drop;
  return true;
}
