import type { LeaseDetails } from '@engram/backend';
import { EngramError, type ErrorCode, errorTable, leaseId } from '@engram/core';
import { WireError } from '@engram/protobuf';
import * as peerpb from './gen/peerpb.ts';

/*
 * What a leader has answered. It may be of another version, so nothing in its answer is an assertion: an answer that cannot be
 * read ends the call with `Unknown`. Whether the call was done is not known then.
 */

/** Throws EngramError `Unknown`. */
export const readAnswer = (bytes: Uint8Array): peerpb.Answer => readable(() => peerpb.decodeAnswer(bytes));

/** Turns WireError into EngramError `Unknown`. */
export function readable<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    throw new EngramError('Unknown', {
      text: `etcdserver: unreadable answer of the leader: ${error.message}`,
      cause: error,
    });
  }
}

/** What the answer must have. Throws WireError if it does not. */
export function present<Value>(value: Value | undefined, what: string): Value {
  if (value === undefined) throw new WireError(`no ${what}`);
  return value;
}

/** The error of an answer or a renewal. A code that only the leader knows is `Unknown`, with the leader's text. */
export function leaderError({ error, errorText }: Pick<peerpb.Answer, 'error' | 'errorText'>): EngramError {
  if (isErrorCode(error) && error !== 'Unknown') return new EngramError(error);
  return new EngramError('Unknown', { text: errorText === '' ? `etcdserver: ${error}` : errorText });
}

const isErrorCode = (text: string): text is ErrorCode => Object.hasOwn(errorTable, text);

export function leaseOf({ lease }: peerpb.Answer): LeaseDetails | undefined {
  return lease === undefined ? undefined : { ...lease, id: leaseId(lease.id) };
}
