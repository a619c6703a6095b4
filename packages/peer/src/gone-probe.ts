import { connect, type Socket } from 'node:net';
import { type Clock, systemErrorCode, type Timer } from '@engram/core';

/** Nobody listens; or a process holds the port that only starts, and resets what connects. */
const GONE: ReadonlySet<string | undefined> = new Set(['ECONNREFUSED', 'ECONNRESET']);
/** A process that resets what connects does it at once. */
const PROBE_MS = 1000;

export interface GoneProbeOptions {
  readonly host: string;
  readonly port: number;
  readonly clock: Clock;
  /** Called at most once, and not after `cancel`. */
  readonly onGone: () => void;
}

/**
 * Finds out whether the process at an address is gone, once gRPC could not connect to it. gRPC tells why it could not in words alone,
 * and these may be the other side's, as those of a certificate. The system tells it by a code. Sends nothing.
 */
export class GoneProbe {
  readonly #socket: Socket;
  readonly #timer: Timer;
  #isOver = false;

  constructor({ host, port, clock, onGone }: GoneProbeOptions) {
    this.#socket = connect({ host, port });
    this.#socket.on('error', (error) => {
      if (this.#isOver) return;
      this.cancel();
      if (codesOf(error).every((code) => GONE.has(code))) onGone();
    });
    // Whoever sends something, or ends the connection in order, is there.
    for (const event of ['data', 'end', 'close']) this.#socket.on(event, () => this.cancel());
    this.#timer = clock.after(PROBE_MS, () => this.cancel());
  }

  cancel(): void {
    this.#isOver = true;
    this.#timer.cancel();
    this.#socket.destroy();
  }
}

/** A name with several addresses fails with an error for each. */
const codesOf = (error: Error): readonly (string | undefined)[] =>
  error instanceof AggregateError ? error.errors.map(systemErrorCode) : [systemErrorCode(error)];
