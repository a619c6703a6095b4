import {
  decodeEntry,
  decodeHardState,
  decodeSnapshot,
  encodeEntry,
  encodeHardState,
  encodeSnapshot,
} from '@engram/raft-ts';
import type { RaftState } from '../raft-state.ts';
import { badBytes, decodeOrRefuse, refusing } from './bad-bytes.ts';
import * as electionpb from './gen/electionpb.ts';

/** The whole state as one value. It is small, because the log holds the membership and little else. */
export function encodeRaftState({ hardState, snapshot, entries }: RaftState): Uint8Array {
  return electionpb.encodeRaftState({
    hardState: encodeHardState(hardState),
    snapshot: encodeSnapshot(snapshot),
    entries: entries.map(encodeEntry),
  });
}

/** Throws ElectionError `bad-bytes`. The byte arrays in the result are views of `bytes`. */
export function decodeRaftState(bytes: Uint8Array): RaftState {
  const form = decodeOrRefuse(electionpb.RaftStateCodec, bytes);
  const state = refusing(() => ({
    hardState: decodeHardState(form.hardState),
    snapshot: decodeSnapshot(form.snapshot),
    entries: form.entries.map(decodeEntry),
  }));
  for (const [at, { index }] of state.entries.entries()) {
    if (index !== state.snapshot.index + 1 + at) throw badBytes('a log with a gap');
  }
  return state;
}
