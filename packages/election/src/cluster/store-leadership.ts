import type { Epoch, LogPosition } from '@engram/core';
import type { MemberId } from './member.ts';

/** One leadership of the store: its epoch, its leader, and the position in the log of the data where it began. */
export interface StoreLeadership {
  readonly epoch: Epoch;
  readonly holder: MemberId;
  readonly segment: number;
  readonly position: LogPosition;
}
