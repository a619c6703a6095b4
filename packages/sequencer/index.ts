// The sequencer: transactions in; revisions, events and answers to be filled in out.
export { Sequencer, type SequencerOptions } from './src/sequencer.ts';
export type { PlannedTxn, PlannedOp, Changes, Sequenced } from './src/plan.ts';
export { isSimple } from './src/value-needs.ts';
// What a transaction that only reads is decided with.
export { choosePath, type Path } from './src/compares.ts';
export type {
  ReadVersions,
  KeyVersions,
  SequencedLeases,
  ChangeEncoder,
  EncodedChange,
  RangePlanner,
  KnownValues,
  Deciding,
  NeededNow,
} from './src/ports.ts';
