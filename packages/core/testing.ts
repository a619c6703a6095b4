// Tests and benchmarks of any package build the words from these.
export { type RecordedSpan, RecordingTracer } from './src/testing/recording-tracer.ts';
export { putGroup, type PutParts } from './src/testing/put-group.ts';
