import { SharedBudget } from './shared-budget.ts';

/** The bounds of a process. */
export interface ClientBounds {
  readonly requestBytes: number;
  readonly answerBytes: number;
  readonly streams: number;
  readonly connections: number;
  readonly watcherBytes: number;
}

/**
 * All that clients can make a process hold, each in one account for the whole process: whatever listens takes its shares
 * here. Bounds of a single connection or stream are the transport's and the services' (limits.ts, services-options.ts);
 * docs/BOUNDS.md has all of them.
 *
 * | account | counts | shares | where it ends |
 * | --- | --- | --- | --- |
 * | requestBytes | requests that come in, wait, or run: their bytes and their heads | a connection | no new window is opened; an unfinished request fails with RESOURCE_EXHAUSTED |
 * | answerBytes | answers and events from when they are made until the kernel takes them | a connection | its calls do not start, its watchers fall behind, its streams pause |
 * | streams | open HTTP/2 streams | a connection | REFUSED_STREAM |
 * | connections | sockets of clients | a client's address | closed at once |
 * | watcherBytes | watchers, with their keys | a connection | the next one is answered as cancelled |
 */
export class ClientBudgets {
  readonly requestBytes: SharedBudget;
  readonly answerBytes: SharedBudget;
  readonly streams: SharedBudget;
  readonly connections: SharedBudget;
  readonly watcherBytes: SharedBudget;

  constructor(bounds: ClientBounds) {
    this.requestBytes = new SharedBudget({ max: bounds.requestBytes, greed: 1, floor: 64 * 1024 });
    this.answerBytes = new SharedBudget({ max: bounds.answerBytes, greed: 1, floor: 64 * 1024 });
    this.streams = new SharedBudget({ max: bounds.streams, greed: 1, floor: 16 });
    this.connections = new SharedBudget({ max: bounds.connections, greed: 4, floor: 0 });
    this.watcherBytes = new SharedBudget({ max: bounds.watcherBytes, greed: 1, floor: 64 * 1024 });
  }
}
