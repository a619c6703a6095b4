import { EngramError, type ErrorCode, isEngramError } from '@engram/core';

/** Refusals that rest on the state of the store, and not on the request alone. */
const restsOnState: ReadonlySet<ErrorCode> = new Set([
  'Compacted',
  'Corrupt',
  'FutureRev',
  'LeaseExist',
  'LeaseNotFound',
  'NoSpace',
]);

/** Confirms that this node still leads. Undefined if it is alone. */
export type Confirm = (() => Promise<void>) | undefined;

/** A refusal that rests on the state must be confirmed: see `WritePathOptions.confirm`. Whoever refuses passes it through here. */
export async function refusing<Answer>(confirm: Confirm, work: Promise<Answer>): Promise<Answer> {
  try {
    return await work;
  } catch (error) {
    if (isEngramError(error) && restsOnState.has(error.code)) await confirm?.();
    throw error;
  }
}

/** A refusal before anything is decided. */
export const refuse = (confirm: Confirm, code: ErrorCode): Promise<never> =>
  refusing(confirm, Promise.reject(new EngramError(code)));
