// Metrics by OTLP. Loaded by a dynamic import alone, where they are on.
export { type MetricsExport, type MetricsExportOptions, startMetricsExport } from './src/start-metrics-export.ts';
