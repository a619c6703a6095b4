// The sequencer: turns transactions into revisions, events, and plans of their answers.
export { Sequencer, type SequencerOptions } from './src/sequencer.ts';
export type { PlannedTxn, PlannedOp, OpCounts, Changes, DecidedTxn } from './src/plan.ts';
export { isSimple } from './src/value-needs.ts';
// For transactions that only read.
export { choosePath, type Path } from './src/compares.ts';
export type {
  ReadVersions,
  KeyVersions,
  DecidedLeases,
  ChangeEncoder,
  EncodedChange,
  PendingVersions,
  RangePlanner,
  DecisionValues,
} from './src/ports.ts';
