import type { Clock } from '@engram/core';
import type { Pins, Scanner } from '@engram/scanner';
import type { ReplicatedState } from './replicated-state.ts';

/** What a walk over all keys needs that lets others have their turn meanwhile. */
export interface WalkParts {
  readonly state: ReplicatedState;
  readonly scanner: Scanner;
  readonly pins: Pins;
  readonly clock: Clock;
  /** Keys that are looked at before others get their turn, where it is below the walk's own measure. */
  readonly sliceMax: number;
}
