// Log lines, and metrics for Prometheus.
export {
  createLogger,
  type ProcessLogger,
  type LoggerOptions,
  logLevels,
  type LogLevel,
  type LogFormat,
} from './src/logger.ts';
export type { LogRotation } from './src/rotating-file.ts';
export { MetricRegistry, type MetricsFormat } from './src/metric-registry.ts';
export type { MetricReading, Reading } from './src/metric.ts';
export type { Exemplar, HistogramReading } from './src/plain-histogram.ts';
export type { MethodMetrics, RpcKind } from './src/method-metrics.ts';
export { registerServiceMetrics, RpcMetrics, type RpcMetricsOptions, type ServiceReading } from './src/rpc-metrics.ts';
export { type StageMs, StoreMetrics } from './src/store-metrics.ts';
export { registerNodeMetrics, HealthMetrics, type NodeGauges } from './src/node-metrics.ts';
export { PeerMetrics, type PeerReading } from './src/peer-metrics.ts';
export { type LogHolderReading, registerLogHolderMetrics } from './src/log-holder-metrics.ts';
export {
  type LocalBytes,
  registerLocalBytesMetrics,
  registerStartMetrics,
  type StartGauges,
  type StartRead,
} from './src/start-metrics.ts';
export { registerLoopMetrics } from './src/loop-metrics.ts';
export { registerScrubMetrics, type ScrubReading } from './src/scrub-metrics.ts';
export { ClientLog } from './src/client-log.ts';
export { type Collection, observeCollections } from './src/collections.ts';
export {
  GC_PHASE,
  LoopMonitor,
  type LoopMonitorOptions,
  type LoopUsage,
  OTHER_PHASE,
  type Stretch,
} from './src/loop-monitor.ts';
export { type BoundedResource, registerBudgetMetrics } from './src/budget-metrics.ts';
export { descriptorLimit, openDescriptors, registerProcessMetrics } from './src/process-metrics.ts';

// Profiles of the process, for pprof and Chrome.
export { CPU_SECONDS_MAX, type ProfileFormat, Profiler, ProfilerBusy } from './src/profiles/profiler.ts';
