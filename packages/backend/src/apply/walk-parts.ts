import type { Clock } from '@engram/core';
import type { Pins, Scanner } from '@engram/scanner';
import type { ReplicatedState } from './replicated-state.ts';

/** What a walk over all keys in slices needs. */
export interface WalkParts {
  readonly state: ReplicatedState;
  readonly scanner: Scanner;
  readonly pins: Pins;
  readonly clock: Clock;
  /** The most keys visited before other requests have their turn, if lower than the walk's own limit. */
  readonly sliceMax: number;
}
