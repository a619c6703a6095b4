import { createHash } from 'node:crypto';
import { byteSteps, type PureJob, type Turn } from '@engram/loop';

declare const brand: unique symbol;

/**
 * Identifies the log up to a position: a hash of all its batches in order, in 32 hex digits. Two logs with the same chain at
 * the same position are the same log up to there.
 */
export type Chain = string & { readonly [brand]: 'Chain' };

export const CHAIN_BYTES = 16;

/** Hashed at a time: half a millisecond on a processor without instructions for it. */
const PIECE_BYTES = 256 << 10;

/** The chain of a cluster's empty log. It depends on the cluster, so the chains of two clusters differ from the start. */
export function emptyChain(clusterId: bigint): Chain {
  const id = Buffer.alloc(8);
  id.writeBigUInt64BE(clusterId);
  return short(createHash('sha256').update('engram log').update(id).digest());
}

/**
 * The chain of a log that begins at `next`, behind an image to which no log has led. `drawn`, a random number, makes two such logs
 * of one cluster differ.
 */
export function foundedChain(empty: Chain, drawn: bigint, next: number): Chain {
  const numbers = Buffer.alloc(16);
  numbers.writeBigUInt64BE(drawn);
  numbers.writeBigUInt64BE(BigInt(next), 8);
  return short(createHash('sha256').update('engram founded log').update(chainBytes(empty)).update(numbers).digest());
}

/**
 * `head` holds the batch's position and number of records, `payload` the lengths of its records and the records. Neither may change
 * meanwhile.
 */
export function* extendChain(chain: Chain, head: Uint8Array, payload: Uint8Array, turn: Turn): PureJob<Chain> {
  const hash = createHash('sha256').update(chainBytes(chain)).update(head);
  for (let at = 0; at < payload.length; at += PIECE_BYTES) {
    const piece = payload.subarray(at, at + PIECE_BYTES);
    hash.update(piece);
    if (turn.shouldYield(byteSteps(piece.length))) yield;
  }
  return short(hash.digest());
}

export function chainBytes(chain: Chain): Uint8Array {
  return Buffer.from(chain, 'hex');
}

/** Undefined if these are not the bytes of a chain. */
export function chainOf(bytes: Uint8Array): Chain | undefined {
  return bytes.length === CHAIN_BYTES ? readChain(bytes, 0) : undefined;
}

/** Undefined if the text is not a chain. */
export function parseChain(text: string): Chain | undefined {
  return /^[\da-f]{32}$/.test(text) ? (text as Chain) : undefined;
}

export function readChain(bytes: Uint8Array, at: number): Chain {
  return Buffer.from(bytes.buffer, bytes.byteOffset + at, CHAIN_BYTES).toString('hex') as Chain;
}

function short(digest: Buffer): Chain {
  return digest.toString('hex', 0, CHAIN_BYTES) as Chain;
}
