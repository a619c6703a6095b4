import { type LeaseId, type VersionMeta, assert, leaseId, logPosition, NO_LEASE, revision } from '@engram/core';
import type { PureJob, Turn } from '@engram/loop';
import { ByteReader } from './byte-reader.ts';
import { ByteWriter } from './byte-writer.ts';
import { ENTRIES_CHUNK } from './checkpoint.ts';

const CHUNK_BYTES = 256 * 1024;
const FLAG_TOMBSTONE = 1;
const FLAG_LEASE = 2;

/**
 * Gathers keys, in ascending order, into chunks that can be decoded one by one. A key is stored as the length of the
 * prefix that it shares with the previous key of the chunk, and the remaining bytes. A modRevision is stored as the
 * difference to the previous version's, a createRevision as the difference to its own modRevision. A Kubernetes key with
 * one version takes about 30 bytes.
 */
export class CheckpointWriter {
  readonly #writer: ByteWriter;
  readonly #chunkBytes: number;
  #previousKey = new Uint8Array(256);
  #previousLength = 0;
  #any = false;
  /** How many versions of the current key are not written yet. */
  #left = 0;
  #previousMod = 0;

  constructor(chunkBytes: number = CHUNK_BYTES) {
    this.#chunkBytes = chunkBytes;
    this.#writer = new ByteWriter(chunkBytes + 4096);
  }

  /**
   * `versions` are all versions of the key, oldest first, at least one. The writer does not keep the arguments: the caller
   * may reuse them. Returns a chunk, which the caller owns, as soon as one is full. A key is never split, so a chunk may
   * exceed its size by one key.
   */
  add(key: Uint8Array, versions: readonly VersionMeta[]): Uint8Array | undefined {
    this.begin(key, 0, key.length, versions.length);
    for (const { modRevision, createRevision, version, sub, lease, tombstone, position, bytes } of versions) {
      this.version(modRevision, createRevision, version, sub, lease, tombstone, position, bytes);
    }
    return this.end();
  }

  /**
   * Like `add`, but without objects, for all keys of a large index. The key is the bytes `start` to `end` of `page`. The
   * caller then calls `version` `count` times, oldest version first, and then `end`.
   */
  begin(page: Uint8Array, start: number, end: number, count: number): void {
    assert(count > 0, 'a key without versions in a checkpoint');
    assert(this.#left === 0, 'a key of a checkpoint begins inside another');
    const writer = this.#writer;
    const length = end - start;
    const shared = this.#sharedPrefix(page, start, length);
    const first = writer.length === 0;
    if (first) writer.byte(ENTRIES_CHUNK);
    const skipped = first ? 0 : shared;
    writer.varint(skipped);
    writer.varint(length - skipped);
    writer.bytes(page, start + skipped, end);
    this.#remember(page, start, length, shared);
    writer.varint(count);
    this.#left = count;
    this.#previousMod = 0;
  }

  version(
    modRevision: number,
    createRevision: number,
    version: number,
    sub: number,
    lease: LeaseId,
    tombstone: boolean,
    position: number,
    bytes: number,
  ): void {
    assert(this.#left > 0, 'more versions of a key than were said');
    assert(modRevision > this.#previousMod, 'versions of a key are not oldest first');
    const writer = this.#writer;
    const leased = lease !== NO_LEASE;
    writer.byte((tombstone ? FLAG_TOMBSTONE : 0) | (leased ? FLAG_LEASE : 0));
    writer.varint(modRevision - this.#previousMod);
    writer.varint(sub);
    writer.varint(position);
    writer.varint(bytes);
    if (!tombstone) {
      assert(createRevision <= modRevision, 'a version is older than its key');
      writer.varint(modRevision - createRevision);
      writer.varint(version);
    }
    if (leased) writer.fixed64(lease);
    this.#previousMod = modRevision;
    this.#left -= 1;
  }

  end(): Uint8Array | undefined {
    assert(this.#left === 0, 'fewer versions of a key than were said');
    return this.#writer.length >= this.#chunkBytes ? this.#writer.take() : undefined;
  }

  /** Returns the last chunk, or undefined if it would be empty. */
  finish(): Uint8Array | undefined {
    assert(this.#left === 0, 'a checkpoint ends inside a key');
    return this.#writer.length === 0 ? undefined : this.#writer.take();
  }

  #sharedPrefix(page: Uint8Array, start: number, length: number): number {
    const previous = this.#previousKey;
    const common = Math.min(this.#previousLength, length);
    let shared = 0;
    while (shared < common && previous[shared] === page[start + shared]) shared += 1;
    const ascends = shared === common ? length > this.#previousLength : page[start + shared]! > previous[shared]!;
    assert(ascends || !this.#any, 'keys of a checkpoint do not ascend');
    this.#any = true;
    return shared;
  }

  #remember(page: Uint8Array, start: number, length: number, shared: number): void {
    if (length > this.#previousKey.length) {
      const grown = new Uint8Array(length * 2);
      grown.set(this.#previousKey.subarray(0, shared));
      this.#previousKey = grown;
    }
    const previous = this.#previousKey;
    for (let at = shared; at < length; at += 1) previous[at] = page[start + at]!;
    this.#previousLength = length;
  }
}

/**
 * Calls `visit` for each key of a chunk of entries, in order. `key` is valid only during the call: the next key is
 * decoded into the same bytes. `visit` owns `versions`. Throws CoderError for damage and for a chunk of another kind.
 */
export function* decodeCheckpointEntries(
  chunk: Uint8Array,
  visit: (key: Uint8Array, versions: readonly VersionMeta[]) => void,
  turn: Turn,
): PureJob<void> {
  const reader = new ByteReader(chunk, 'a chunk of a checkpoint');
  if (reader.byte() !== ENTRIES_CHUNK) throw reader.failure('another kind of chunk');
  let key = new Uint8Array(1024);
  let previousLength = 0;
  while (!reader.done) {
    const shared = reader.varint();
    if (shared > previousLength) throw reader.failure('a shared prefix longer than the key before');
    const suffixLength = reader.varint();
    const length = shared + suffixLength;
    if (suffixLength > chunk.length) throw reader.failure('cut off');
    if (length > key.length) {
      const grown = new Uint8Array(length * 2);
      grown.set(key.subarray(0, shared));
      key = grown;
    }
    reader.copy(key, shared, suffixLength);
    previousLength = length;
    visit(key.subarray(0, length), readVersions(reader));
    if (turn.shouldYield()) yield;
  }
}

function readVersions(reader: ByteReader): VersionMeta[] {
  const count = reader.varint();
  if (count === 0) throw reader.failure('a key without versions');
  const versions: VersionMeta[] = [];
  let previousMod = 0;
  for (let index = 0; index < count; index += 1) {
    const flags = reader.byte();
    if (flags > (FLAG_TOMBSTONE | FLAG_LEASE)) throw reader.failure(`unknown flags ${flags}`);
    const tombstone = (flags & FLAG_TOMBSTONE) !== 0;
    const modRevision = previousMod + reader.varint();
    const sub = reader.varint();
    const position = reader.varint();
    const bytes = reader.varint();
    const age = tombstone ? modRevision : reader.varint();
    if (age > modRevision) throw reader.failure('a version created before revision 0');
    versions.push({
      createRevision: revision(modRevision - age),
      modRevision: revision(modRevision),
      sub,
      version: tombstone ? 0 : reader.varint(),
      lease: (flags & FLAG_LEASE) === 0 ? NO_LEASE : leaseId(reader.fixed64()),
      tombstone,
      position: logPosition(position),
      bytes,
    });
    previousMod = modRevision;
  }
  return versions;
}
