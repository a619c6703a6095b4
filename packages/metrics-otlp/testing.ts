// A collector of metrics for tests.
export {
  type CollectedExport,
  type CollectedMetric,
  type CollectedPoint,
  MetricsCollector,
} from './src/testing/metrics-collector.ts';
