// The sequencer: transactions in; revisions, events and answers to be filled in out.
export { Sequencer, type SequencerOptions } from './src/sequencer.ts';
export type { PlannedTxn, PlannedOp, Sequenced } from './src/plan.ts';
// What a transaction that only reads is decided with.
export { choosePath, type Path } from './src/compares.ts';
export { valueNeeds } from './src/value-needs.ts';
export type {
  ReadVersions,
  KeyVersions,
  SequencedLeases,
  ChangeEncoder,
  EncodedChange,
  RangePlanner,
  KnownValues,
} from './src/ports.ts';
