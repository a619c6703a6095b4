/** For the store that publishes, and for whoever serves a stream of watches. */
export { WatchHub, type WatchHubOptions, type WatchHubStats } from './src/watch-hub.ts';
export type { WatchRequest, Watcher, WatchStream, CreateOutcome, WatchSink } from './src/ports.ts';
/** For the store: where watchers find the past. */
export type { History, HistoryPage } from './src/ports.ts';
