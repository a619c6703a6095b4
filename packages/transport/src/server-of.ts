import { waitForDrain } from './drain.ts';
import type { Http1Server } from './http/http1.ts';
import type { Listener } from './listener.ts';
import type { ServeOptions, Server } from './serve-options.ts';

/** How the HTTP/2 connections of a server end. */
export interface Http2Ends {
  /** They take no new calls, and end when those that are under way have ended. */
  drain(): void;
  /** Their sockets are closed, or will be within this turn. */
  close(): void;
  /** Resolves when nobody is called any more. Called once the sockets are closed. */
  gone(): Promise<void>;
}

/** The server behind a listener: its end, which is the same whatever speaks HTTP/2. */
export function serverOf(
  address: Server['address'],
  listener: Listener,
  http1: Http1Server,
  http2: Http2Ends,
  { clock }: Pick<ServeOptions, 'clock'>,
): Server {
  async function close(): Promise<void> {
    listener.cut();
    http1.close();
    http2.close();
    await listener.whenEmpty();
    await http2.gone();
  }

  async function drain(signal: AbortSignal): Promise<void> {
    listener.stop();
    http1.drain();
    http2.drain();
    await waitForDrain(listener.whenEmpty(), clock, signal);
    await close();
  }

  return {
    address,
    get connections() {
      return listener.open;
    },
    drain,
    close,
  };
}
