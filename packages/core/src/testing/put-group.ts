import { EVENT_PUT, type EventGroup } from '../event.ts';
import { NO_LEASE } from '../lease-id.ts';
import { logPosition } from '../log-position.ts';
import { type Revision, revision } from '../revision.ts';

export interface PutParts {
  readonly key: Uint8Array;
  readonly kv: Uint8Array;
  /** The superseded version, of the revision before. Without it the put is a creation. */
  readonly prevKv?: Uint8Array | undefined;
}

/** A revision of one put. Its log position has the same number. */
export function putGroup(at: Revision, { key, kv, prevKv }: PutParts): EventGroup {
  const creation = prevKv === undefined;
  return {
    revision: at,
    events: [
      {
        type: EVENT_PUT,
        key,
        modRevision: at,
        sub: 0,
        createRevision: at,
        version: 1,
        lease: NO_LEASE,
        kv,
        position: logPosition(at),
        prevPosition: creation ? undefined : logPosition(at - 1),
        prevModRevision: revision(creation ? 0 : at - 1),
        prevLease: NO_LEASE,
        prevKv,
      },
    ],
  };
}
