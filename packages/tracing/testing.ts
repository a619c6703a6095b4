// A collector for tests.
export { type CollectedSpan, Collector } from './src/testing/collector.ts';
