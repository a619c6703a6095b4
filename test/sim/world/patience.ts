import { Finding } from '../judge/finding.ts';
import { STALL_MS_MAX } from './fault-steps.ts';

/** A world with simulated time. */
export interface Timed {
  /** Resolves after this time. */
  delay(ms: number): Promise<void>;
}

/** Longer than any stall of storage and the work that waits for it. */
export const QUIET_MS_MAX = 3 * STALL_MS_MAX + 30_000;
const STEP_MS = 100;

/** Waits until `holds` returns true. Without faults all work must end, so a longer wait is a finding. */
export async function until(world: Timed, what: string, holds: () => boolean, why = (): string => ''): Promise<void> {
  for (let waitedMs = 0; !holds(); waitedMs += STEP_MS) {
    if (waitedMs > QUIET_MS_MAX)
      throw new Finding('hang', `in ${QUIET_MS_MAX} ms without a fault, not: ${what} ${why()}`);
    await world.delay(STEP_MS);
  }
}

/** Waits for an answer of a node. Without faults it must come in bounded time. */
export async function answerOf<Answer>(world: Timed, what: string, answer: Promise<Answer>): Promise<Answer> {
  const late = world.delay(QUIET_MS_MAX).then(() => {
    throw new Finding('hang', `in ${QUIET_MS_MAX} ms without a fault no answer: ${what}`);
  });
  return await Promise.race([answer, late]);
}
