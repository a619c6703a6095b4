import type { Loop } from '@engram/loop';
import type { Pins, Scanner } from '@engram/scanner';
import type { ReplicatedState } from './replicated-state.ts';

/** What a walk over all keys needs. */
export interface WalkParts {
  readonly state: ReplicatedState;
  readonly scanner: Scanner;
  readonly pins: Pins;
  readonly loop: Loop;
}
