import { decodePeerMessage } from '@engram/election';
import type { Prng } from '@engram/sim';
import { Client, credentials, type ServiceError } from '@grpc/grpc-js';
import { setTimeout as delay } from 'node:timers/promises';
import { fieldsOf } from './fields.ts';
import type { Kept } from './finding.ts';
import { mutated } from './mutate.ts';
import { followRequest, frame, hello, type Line, message, request } from './peer-messages.ts';

const ANSWERED_MS = 30;
const KEPT_TARGET = 'peer-frames';

/** The frames of one stream, without hellos, or a place in the log to be followed from. */
export type PeerAttack =
  | { readonly kind: 'exchange'; readonly frames: readonly Buffer[]; readonly greets: boolean; readonly ends: boolean }
  | { readonly kind: 'follow'; readonly from: number };

/** An attack that does something for the first time, in the form in which `save` writes inputs. */
export const keptOf = ({ frames }: PeerAttack & { kind: 'exchange' }): Kept => ({
  target: KEPT_TARGET,
  chunks: frames,
});

/** A file has no line for an empty frame. */
export const keptFrames = (saved: readonly Kept[]): readonly Buffer[][] =>
  saved.filter(({ target, chunks }) => target === KEPT_TARGET && chunks.length > 0).map(({ chunks }) => [...chunks]);

/** A new attack, or a kept one with some bytes changed. `line` is where it will be sent. */
export function someAttack(prng: Prng, line: Line, kept: readonly (readonly Buffer[])[]): PeerAttack {
  if (prng.chance(0.1)) return { kind: 'follow', from: prng.below(3) };
  const how = { greets: prng.chance(0.95), ends: prng.chance(0.5) };
  if (kept.length > 0 && prng.chance(0.4)) {
    const frames = prng.pick(kept);
    const at = prng.below(frames.length);
    const changed = mutated(prng, frames[at]!, prng.pick(kept));
    if (isFair(changed)) return { kind: 'exchange', frames: frames.with(at, changed), ...how };
  }
  // A refused message ends its stream, so what comes behind it is not read.
  const [messagesMax, callsMax] = prng.chance(0.5) ? [0, 12] : prng.chance(0.5) ? [4, 0] : [2, 3];
  const frames = Array.from({ length: 1 + prng.below(4) }, (_, at) =>
    frame({
      messages: Array.from({ length: messagesMax && prng.below(messagesMax) }, () => message(prng, line)),
      calls: Array.from({ length: callsMax && prng.below(callsMax) }, (_, call) => ({
        number: prng.chance(0.99) ? 20 * at + call + 1 : prng.below(2 ** 20),
        request: request(prng, line),
      })),
      cancelled: Array.from({ length: prng.chance(0.2) ? prng.below(4) : 0 }, () => prng.below(30)),
      ...(prng.chance(0.2) ? { ping: 2 ** prng.below(53) } : {}),
    }),
  );
  return { kind: 'exchange', frames, ...how };
}

/**
 * Whether no member may end by a frame that was changed byte by byte. A hello would make another speaker of a stranger;
 * members may remove members, and may say that a copy differs.
 */
function isFair(changed: Buffer): boolean {
  const fields = fieldsOf(changed) ?? [];
  return fields.every(({ number, bytes }) => {
    if (number === 1) return false;
    if (number === 2) return !removes(bytes);
    if (number !== 3 || bytes === undefined) return true;
    const requests = (fieldsOf(bytes) ?? []).filter((field) => field.number === 2);
    return requests.every((field) => (fieldsOf(field.bytes ?? Buffer.alloc(0)) ?? []).every((call) => !isGrave(call)));
  });
}

/** proto/peer/peer.proto: Request.member_change with REMOVE, and Request.hash_kv. */
function isGrave({ number, bytes }: { readonly number: number; readonly bytes: Buffer | undefined }): boolean {
  if (number === 20) return true;
  if (number !== 18 || bytes === undefined) return false;
  return (fieldsOf(bytes) ?? []).some((field) => field.number === 1 && field.varint === 1n);
}

function removes(bytes: Buffer | undefined): boolean {
  try {
    const decoded = decodePeerMessage(bytes ?? Buffer.alloc(0));
    if (decoded.kind !== 'raft') return false;
    const { message } = decoded;
    const changes =
      message.type === 'append' ? message.entries : message.type === 'propose' ? message.payloads : ([] as const);
    return changes.some((change) => change.kind === 'conf-change' && change.change.kind === 'remove');
  } catch {
    return false; // so does the member refuse it
  }
}

export interface Outcome {
  readonly sent: readonly Buffer[];
  /** How the stream ended, and which kinds of answers came: equal for attacks that did the same. */
  readonly answer: string;
}

/** Sends one attack on a connection of its own. Resolves when the member has ended the stream, or soon. */
export async function play(attack: PeerAttack, port: number, line: Line): Promise<Outcome> {
  const options = { 'grpc.use_local_subchannel_pool': 1, 'grpc.enable_retries': 0 };
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), options);
  const raw = (bytes: Buffer): Buffer => bytes;
  const sent: Buffer[] = [];
  const answers = new Set<string>();
  const ended = Promise.withResolvers<void>();
  const onEnd = (error?: ServiceError): void => {
    // Numbers are places, terms and ids.
    if (error !== undefined) answers.add(`${error.code} ${error.details.replaceAll(/[0-9a-f]*\d[0-9a-f]*/g, '#')}`);
    ended.resolve();
  };
  try {
    if (attack.kind === 'follow') {
      const asked = followRequest(line, attack.from);
      sent.push(asked);
      client
        .makeServerStreamRequest('/engram.Peer/Follow', raw, raw, asked)
        .on('data', () => answers.add('batches'))
        .on('error', onEnd)
        .on('end', onEnd);
    } else {
      const stream = client.makeBidiStreamRequest('/engram.Peer/Exchange', raw, raw);
      stream
        .on('data', (bytes: Buffer) => {
          for (const kind of kindsOf(bytes)) answers.add(kind);
        })
        .on('error', onEnd)
        .on('end', onEnd);
      for (const [at, bytes] of attack.frames.entries()) {
        const greeting = at === 0 && attack.greets ? frame({ hello: hello(line) }) : Buffer.alloc(0);
        const whole = Buffer.concat([greeting, bytes]);
        sent.push(whole);
        stream.write(whole);
      }
      if (attack.ends) stream.end();
    }
    await Promise.race([ended.promise, delay(ANSWERED_MS)]);
  } finally {
    client.close();
  }
  return { sent, answer: `${attack.kind}: ${[...answers].sort().join('; ')}` };
}

/** proto/peer/link.proto: Answers. Of each answer its fields, and its error. */
function kindsOf(bytes: Buffer): readonly string[] {
  return (fieldsOf(bytes) ?? []).map((field) => {
    if (field.number !== 1 || field.bytes === undefined) return `field ${field.number}`;
    const answer = (fieldsOf(field.bytes) ?? []).find(({ number }) => number === 2)?.bytes ?? Buffer.alloc(0);
    return (fieldsOf(answer) ?? [])
      .map(({ number, bytes: content }) => (number === 1 ? (content?.toString('latin1') ?? '') : String(number)))
      .join(' ');
  });
}
