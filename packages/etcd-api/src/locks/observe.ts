import { isEngramError, type KeyRange, pointRange, type Revision, revision } from '@engram/core';
import { type Message, mvccpb, v3electionpb } from '@engram/wire';
import { type ClientSteps, isDelete, isPut } from './client-steps.ts';
import { firstKv, firstOf } from './line.ts';

/** Who leads, as of a revision of the store. */
interface Leading {
  readonly kv: mvccpb.KeyValue;
  readonly at: Revision;
}

/**
 * Who leads an election, what the leader says from then on, then the next leader, and so on. Waits where there is none. What refuses or
 * breaks it ends it without an error, as in etcd (client/v3/concurrency/election.go: observe).
 */
export async function* leaders(steps: ClientSteps, line: KeyRange): AsyncGenerator<Message> {
  try {
    await steps.ready();
    while (!steps.signal.aborted) {
      const leading = await nowLeading(steps, line);
      if (leading === undefined) return;
      yield message(steps, leading);
      if (!(yield* untilGone(steps, leading))) return;
    }
  } catch (error) {
    if (!isEngramError(error)) throw error;
  }
}

const message = (steps: ClientSteps, { kv, at }: Leading): Message =>
  v3electionpb.encodeLeaderResponse({ header: steps.header(at), kv });

/** Undefined: the call is over. */
async function nowLeading(steps: ClientSteps, line: KeyRange): Promise<Leading | undefined> {
  const { kvs, revision: at } = await steps.read(firstOf(line));
  const kv = firstKv(kvs);
  if (kv !== undefined) return { kv, at };
  using watch = steps.watch({ range: line, startRevision: revision(at + 1), noDelete: true }, line.key.length);
  const offer = await steps.waitFor(watch.next());
  const first = offer?.groups.flatMap(({ events }) => events).find(isPut);
  return first && { kv: mvccpb.decodeKeyValue(first.kv), at: first.modRevision };
}

/** What the leader says after that. False: the call is over. */
async function* untilGone(steps: ClientSteps, { kv: { key }, at }: Leading): AsyncGenerator<Message, boolean> {
  const own = new Uint8Array(key);
  using watch = steps.watch({ range: pointRange(own), startRevision: revision(at + 1) }, own.length);
  for (let offer = await watch.next(); offer !== undefined; offer = await watch.next()) {
    for (const event of offer.groups.flatMap(({ events }) => events)) {
      if (isDelete(event)) return true;
      yield message(steps, { kv: mvccpb.decodeKeyValue(event.kv), at: offer.headerRevision });
    }
  }
  return false;
}
