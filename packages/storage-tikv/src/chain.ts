import { createHash } from 'node:crypto';

declare const brand: unique symbol;

/**
 * What the log is up to some position: a hash of all its batches, one after the other, in 32 hex digits. Two logs with the
 * same chain at the same position are the same log up to there.
 */
export type Chain = string & { readonly [brand]: 'Chain' };

export const CHAIN_BYTES = 16;

/** Of a cluster's empty log: the logs of two clusters differ from the start. */
export function emptyChain(clusterId: bigint): Chain {
  const id = Buffer.alloc(8);
  id.writeBigUInt64BE(clusterId);
  return short(createHash('sha256').update('engram log').update(id).digest());
}

/** `content`: the batch's position and number of records are in `head`, its lengths and records in `payload`. */
export function extendChain(chain: Chain, head: Uint8Array, payload: Uint8Array): Chain {
  return short(createHash('sha256').update(chainBytes(chain)).update(head).update(payload).digest());
}

export function chainBytes(chain: Chain): Uint8Array {
  return Buffer.from(chain, 'hex');
}

/** Undefined for what is none. */
export function parseChain(text: string): Chain | undefined {
  return /^[\da-f]{32}$/.test(text) ? (text as Chain) : undefined;
}

export function readChain(bytes: Uint8Array, at: number): Chain {
  return Buffer.from(bytes.buffer, bytes.byteOffset + at, CHAIN_BYTES).toString('hex') as Chain;
}

function short(digest: Buffer): Chain {
  return digest.toString('hex', 0, CHAIN_BYTES) as Chain;
}
