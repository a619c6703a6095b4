// Collectors of OTLP for tests.
export { type CollectedSpan, Collector } from './src/testing/collector.ts';
export {
  type ExportAnswer,
  field,
  hex,
  list,
  ms,
  OTLP_COMMON,
  type ServedExports,
  serveExports,
  text,
  type Values,
  valuesOf,
} from './src/testing/otlp.ts';
