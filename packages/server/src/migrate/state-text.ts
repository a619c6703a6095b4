import type { Lag } from '@engram/migration';

/** The member that this text is of, and the one that leads: 0 if none does. */
export interface FollowingMember {
  readonly leaderId: bigint;
  readonly memberId: bigint;
}

const NO_WRITES = 'it takes no writes before engram cut-over';
/** An etcd that is there says how far it is each second. */
const SILENT_MS = 5000;

/** For `/readyz`: of the member that leads, how far it is; of another one, who follows. `lag` is undefined before the first one is known. */
export function stateText(lag: Lag | undefined, { leaderId, memberId }: FollowingMember): string {
  if (leaderId === 0n) return `no member leads; ${NO_WRITES}`;
  if (leaderId !== memberId) return `the leader ${leaderId.toString(16)} does; ${NO_WRITES} there`;
  if (lag?.silentMs === undefined) return 'it has not answered yet';
  const { at, source, silentMs, compared } = lag;
  const silent = silentMs > SILENT_MS ? `, and it has said nothing for ${Math.round(silentMs / 1000)} s` : '';
  if (!compared) return `revision ${at} is not compared with the etcd yet${silent}; ${NO_WRITES}`;
  return `${source - at} revisions behind, at ${at} of ${source}${silent}; ${NO_WRITES}`;
}
