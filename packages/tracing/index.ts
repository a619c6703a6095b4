// Traces by OpenTelemetry. Loaded by a dynamic import alone, where they are on.
export { type RunningTracing, startTracing, type TracingOptions } from './src/start-tracing.ts';
