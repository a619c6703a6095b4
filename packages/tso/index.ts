// The sequencer: transactions in; revisions, events and answers to be filled in out.
export { Sequencer, type SequencerOptions } from './src/sequencer.ts';
export type { PlannedTxn, PlannedOp, Sequenced } from './src/plan.ts';
export type { KeyVersions, LeaseKeys, ChangeEncoder, EncodedChange, RangePlanner, KnownValues } from './src/ports.ts';
