import { SharedBudget } from './shared-budget.ts';

/** The bounds of one process. */
export interface ClientBounds {
  readonly requestBytes: number;
  readonly answerBytes: number;
  readonly streams: number;
  readonly connections: number;
  readonly watcherBytes: number;
}

/**
 * All that clients can make a process hold, each in one account for the whole process. Every listener takes its shares
 * here. Bounds of a single connection or stream belong to the transport and the services (limits.ts,
 * services-options.ts). docs/BOUNDS.md has all of them.
 *
 * - `requestBytes`, a share for each connection: bytes and heads of requests that come in, wait, or run. At the bound no
 *   new window is opened, and an unfinished request fails with RESOURCE_EXHAUSTED.
 * - `answerBytes`, a share for each connection: answers and events from when they are made until the kernel takes them.
 *   At the bound the connection's calls do not start, its watchers fall behind, and its streams pause.
 * - `streams`, a share for each connection: open HTTP/2 streams. At the bound: REFUSED_STREAM.
 * - `connections`, a share for each client's address: sockets of clients. At the bound a new one is closed at once.
 * - `handshakes`, a share for each client's address: connections under TLS whose handshake is not complete, at most half
 *   as many as connections. At the bound a new one is closed at once.
 * - `watcherBytes`, a share for each connection: watchers, with their keys. At the bound a new one is answered as
 *   cancelled.
 */
export class ClientBudgets {
  readonly requestBytes: SharedBudget;
  readonly answerBytes: SharedBudget;
  readonly streams: SharedBudget;
  readonly connections: SharedBudget;
  readonly handshakes: SharedBudget;
  readonly watcherBytes: SharedBudget;

  constructor(bounds: ClientBounds) {
    this.requestBytes = new SharedBudget({ max: bounds.requestBytes, greed: 1, floor: 64 * 1024 });
    this.answerBytes = new SharedBudget({ max: bounds.answerBytes, greed: 1, floor: 64 * 1024 });
    this.streams = new SharedBudget({ max: bounds.streams, greed: 1, floor: 16 });
    this.connections = new SharedBudget({ max: bounds.connections, greed: 4, floor: 0 });
    this.handshakes = new SharedBudget({ max: Math.ceil(bounds.connections / 2), greed: 4, floor: 0 });
    this.watcherBytes = new SharedBudget({ max: bounds.watcherBytes, greed: 1, floor: 64 * 1024 });
  }
}
