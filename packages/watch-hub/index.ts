/** For the store that publishes batches, and for the servers of watch streams. */
export { WatchHub, type WatchHubOptions, type WatchHubStats } from './src/watch-hub.ts';
export type { WatchRequest, Watcher, WatchStream, CreateOutcome, WatchSink } from './src/ports.ts';
/** For the store: the committed history that watchers read. */
export type { History, HistoryPage } from './src/ports.ts';
