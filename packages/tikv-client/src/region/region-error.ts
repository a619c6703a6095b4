import type { BackoffName } from '../backoff/backoff-kinds.ts';
import { TikvError } from '../errors.ts';
import type { Error as RegionError } from '../proto/gen/errorpb.ts';
import type { Region as RegionMeta } from '../proto/gen/metapb.ts';
import { isNewer, type Region } from './region.ts';

/** What the sender does about a region error. `maybeApplied`: the request may have taken effect nevertheless. */
export type Verdict =
  | {
      readonly do: 'again';
      readonly backoff?: BackoffName;
      readonly atLeastMs?: number;
      /** The peer that leads now. */
      readonly leader?: number;
      /** Send to another peer. */
      readonly nextPeer?: true;
      /** Send as a plain read to the leader. */
      readonly atLeader?: true;
      readonly maybeApplied?: true;
    }
  | {
      /** The caller must locate its keys again. */
      readonly do: 'relocate';
      readonly backoff?: BackoffName;
      readonly learn?: readonly RegionMeta[];
      readonly storeMoved?: true;
      readonly maybeApplied?: true;
    }
  | { readonly do: 'fail'; readonly error: TikvError };

/** The field of errorpb.Error that is set, for messages and metrics. */
export function kindOfRegionError(error: RegionError): string {
  for (const [name, value] of Object.entries(error)) {
    if (name !== 'message' && value !== undefined) return name;
  }
  return 'unknown';
}

/** Decides what to do about an errorpb.Error. Pure. `atLeader`: the request was sent as one to the leader. */
export function judgeRegionError(error: RegionError, region: Region, atLeader: boolean): Verdict {
  if (error.notLeader !== undefined) {
    const { leader } = error.notLeader;
    if (leader === undefined || leader.id === 0) return { do: 'again', backoff: 'regionScheduling', nextPeer: true };
    if (region.peers.every(({ id }) => id !== leader.id)) return { do: 'relocate' };
    return { do: 'again', leader: leader.id };
  }
  if (error.epochNotMatch !== undefined) {
    const { currentRegions } = error.epochNotMatch;
    const behind = currentRegions.some(
      ({ id, regionEpoch }) => id === region.id && regionEpoch !== undefined && isNewer(region, regionEpoch),
    );
    if (behind) return { do: 'again', backoff: 'regionMiss' };
    return { do: 'relocate', learn: currentRegions };
  }
  if (error.regionNotFound !== undefined)
    return atLeader ? { do: 'relocate', backoff: 'regionMiss' } : { do: 'again', atLeader: true };
  if (error.keyNotInRegion !== undefined) return { do: 'relocate', backoff: 'regionMiss' };
  if (error.serverIsBusy !== undefined) {
    const { backoffMs, estimatedWaitMs } = error.serverIsBusy;
    return {
      do: 'again',
      backoff: 'serverBusy',
      atLeastMs: Math.min(Math.max(backoffMs, estimatedWaitMs), 10_000),
      ...(atLeader ? {} : { atLeader: true as const }),
    };
  }
  if (error.staleCommand !== undefined)
    return { do: 'again', backoff: 'staleCommand', nextPeer: true, maybeApplied: true };
  if (error.storeNotMatch !== undefined) return { do: 'relocate', storeMoved: true, backoff: 'regionMiss' };
  if (error.raftEntryTooLarge !== undefined) {
    return {
      do: 'fail',
      error: new TikvError(
        'transaction-too-large',
        `one request became a raft entry of ${error.raftEntryTooLarge.entrySize} bytes`,
      ),
    };
  }
  if (error.maxTimestampNotSynced !== undefined) return { do: 'again', backoff: 'maxTsNotSynced' };
  if (error.readIndexNotReady !== undefined) return { do: 'again', backoff: 'regionScheduling', atLeader: true };
  if (error.proposalInMergingMode !== undefined) return { do: 'again', backoff: 'regionScheduling' };
  if (error.dataIsNotReady !== undefined) return { do: 'again', atLeader: true };
  if (error.regionNotInitialized !== undefined) return { do: 'again', backoff: 'regionNotInitialized', nextPeer: true };
  if (error.diskFull !== undefined) return { do: 'again', backoff: 'diskFull' };
  if (error.recoveryInProgress !== undefined) return { do: 'relocate', backoff: 'regionRecovery' };
  if (error.flashbackInProgress !== undefined || error.flashbackNotPrepared !== undefined) {
    return { do: 'fail', error: new TikvError('flashback-in-progress', error.message) };
  }
  if (error.isWitness !== undefined) return { do: 'relocate', backoff: 'isWitness' };
  if (error.mismatchPeerId !== undefined) return { do: 'relocate', backoff: 'regionMiss' };
  if (error.undeterminedResult !== undefined) return { do: 'again', backoff: 'staleCommand', maybeApplied: true };
  // An unknown error: of a newer server, of one that is closing, or of one that has not heard yet how far PD's timestamps are, and
  // refuses one. Another peer may serve.
  return { do: 'again', backoff: 'regionScheduling', nextPeer: true };
}
