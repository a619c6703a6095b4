// Ranges over index and storage.
export { Scanner, type ScannerOptions, type ScanResult, type PagedScanResult } from './src/scanner.ts';
export type { RangePlan } from './src/range-plan.ts';
export { VersionBytes } from './src/version-bytes.ts';
export { RecordCache } from './src/record-cache.ts';
export { type Pin, Pins } from './src/pins.ts';
