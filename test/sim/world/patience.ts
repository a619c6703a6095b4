import { Finding } from '../judge/finding.ts';
import { STALL_MS_MAX } from './fault-steps.ts';

/** Whose time passes. */
export interface Timed {
  /** Resolves when so much time has passed. */
  delay(ms: number): Promise<void>;
}

/** Longer than any stall of storage, and than what waits behind one. */
export const QUIET_MS_MAX = 3 * STALL_MS_MAX + 30_000;
const STEP_MS = 100;

/** Lets time pass until it holds. Without a fault everything comes to its end: a hang is a finding. */
export async function until(world: Timed, what: string, holds: () => boolean, why = (): string => ''): Promise<void> {
  for (let waitedMs = 0; !holds(); waitedMs += STEP_MS) {
    if (waitedMs > QUIET_MS_MAX)
      throw new Finding('hang', `in ${QUIET_MS_MAX} ms without a fault, not: ${what} ${why()}`);
    await world.delay(STEP_MS);
  }
}

/** Whatever a node is asked now, it answers in bounded time. */
export async function answerOf<Answer>(world: Timed, what: string, answer: Promise<Answer>): Promise<Answer> {
  const late = world.delay(QUIET_MS_MAX).then(() => {
    throw new Finding('hang', `in ${QUIET_MS_MAX} ms without a fault no answer: ${what}`);
  });
  return await Promise.race([answer, late]);
}
