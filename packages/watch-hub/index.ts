export type { WatchRequest, Watcher, WatchSink, History, HistoryPage } from './src/ports.ts';
