import { sizeBig, sizeInt64, writeBig, writeInt64, writeVarint } from '@engram/protobuf';

/** The fields of a ResponseHeader that seldom change. */
export interface HeaderIdentity {
  readonly clusterId: bigint;
  readonly memberId: bigint;
  readonly raftTerm: number;
}

/**
 * Encodes etcdserverpb.ResponseHeader. Many successive answers, above all of reads, have the same revision, so the last
 * header is kept. The result of `encode` is shared and must not be changed.
 */
export class HeaderEncoder {
  readonly #before: Uint8Array;
  readonly #after: Uint8Array;
  #revision = -1;
  #last: Uint8Array = new Uint8Array(0);

  constructor({ clusterId, memberId, raftTerm }: HeaderIdentity) {
    this.#before = Uint8Array.of(...uintField(8, clusterId), ...uintField(16, memberId));
    this.#after = Uint8Array.from(uintField(32, BigInt(raftTerm)));
  }

  encode(revision: number): Uint8Array {
    if (revision === this.#revision) return this.#last;
    const before = this.#before;
    const bytes = new Uint8Array(before.length + sizeRevision(revision) + this.#after.length);
    bytes.set(before);
    bytes.set(this.#after, writeRevision(revision, bytes, before.length));
    this.#revision = revision;
    this.#last = bytes;
    return bytes;
  }
}

/** Size of the header of an operation within a transaction. It has a revision only; without a revision it is empty. */
export const sizeRevision = (revision: number): number => (revision === 0 ? 0 : 1 + sizeInt64(revision));

function writeRevision(revision: number, into: Uint8Array, at: number): number {
  if (revision === 0) return at;
  into[at] = 24;
  return writeInt64(revision, into, at + 1);
}

function uintField(tag: number, value: bigint): readonly number[] {
  if (value === 0n) return [];
  const bytes = new Uint8Array(1 + sizeBig(value));
  writeBig(value, bytes, writeVarint(tag, bytes, 0));
  return [...bytes];
}
