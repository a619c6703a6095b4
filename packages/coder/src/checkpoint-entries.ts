import { type VersionMeta, assert, leaseId, logPosition, NO_LEASE, revision } from '@engram/core';
import { ByteReader } from './byte-reader.ts';
import { ByteWriter } from './byte-writer.ts';
import { ENTRIES_CHUNK } from './checkpoint.ts';

const CHUNK_BYTES = 256 * 1024;
const FLAG_TOMBSTONE = 1;
const FLAG_LEASE = 2;

/**
 * Gathers keys, in ascending order, into chunks that can be decoded one by one. A key is stored as the length of the
 * prefix that it shares with the key before it, and the rest. A version's numbers are stored as differences to the
 * version before it where they grow. A Kubernetes key with one version takes about 30 bytes.
 */
export class CheckpointWriter {
  readonly #writer: ByteWriter;
  readonly #chunkBytes: number;
  #previousKey = new Uint8Array(256);
  #previousLength = 0;
  #any = false;

  constructor(chunkBytes: number = CHUNK_BYTES) {
    this.#chunkBytes = chunkBytes;
    this.#writer = new ByteWriter(chunkBytes + 4096);
  }

  /**
   * `versions` are all versions of the key, oldest first, at least one. The arguments are not kept: the caller may
   * reuse them. Returns a chunk, owned by the caller, as soon as one is full. A key is never split, so a chunk may
   * exceed its size by one key.
   */
  add(key: Uint8Array, versions: readonly VersionMeta[]): Uint8Array | undefined {
    assert(versions.length > 0, 'a key without versions in a checkpoint');
    const writer = this.#writer;
    const shared = this.#sharedPrefix(key);
    if (writer.length === 0) {
      writer.byte(ENTRIES_CHUNK);
      writer.varint(0);
      writer.varint(key.length);
      writer.bytes(key);
    } else {
      writer.varint(shared);
      writer.varint(key.length - shared);
      writer.bytes(key, shared);
    }
    this.#remember(key);
    writer.varint(versions.length);
    let previousMod = 0;
    for (const version of versions) {
      this.#version(version, previousMod);
      previousMod = version.modRevision;
    }
    return writer.length >= this.#chunkBytes ? writer.take() : undefined;
  }

  /** The last chunk, if any keys are left. */
  finish(): Uint8Array | undefined {
    return this.#writer.length === 0 ? undefined : this.#writer.take();
  }

  #version(version: VersionMeta, previousMod: number): void {
    const writer = this.#writer;
    const leased = version.lease !== NO_LEASE;
    writer.byte((version.tombstone ? FLAG_TOMBSTONE : 0) | (leased ? FLAG_LEASE : 0));
    assert(version.modRevision > previousMod, 'versions of a key are not oldest first');
    writer.varint(version.modRevision - previousMod);
    writer.varint(version.sub);
    writer.varint(version.position);
    writer.varint(version.bytes);
    if (!version.tombstone) {
      assert(version.createRevision <= version.modRevision, 'a version is older than its key');
      writer.varint(version.modRevision - version.createRevision);
      writer.varint(version.version);
    }
    if (leased) writer.fixed64(version.lease);
  }

  #sharedPrefix(key: Uint8Array): number {
    const previous = this.#previousKey;
    const common = Math.min(this.#previousLength, key.length);
    let shared = 0;
    while (shared < common && previous[shared] === key[shared]) shared += 1;
    const ascends = shared === common ? key.length > this.#previousLength : key[shared]! > previous[shared]!;
    assert(ascends || !this.#any, 'keys of a checkpoint do not ascend');
    this.#any = true;
    return shared;
  }

  #remember(key: Uint8Array): void {
    if (key.length > this.#previousKey.length) this.#previousKey = new Uint8Array(key.length * 2);
    const previous = this.#previousKey;
    for (let at = 0; at < key.length; at += 1) previous[at] = key[at]!;
    this.#previousLength = key.length;
  }
}

/**
 * Calls `visit` for each key of a chunk of entries, in order. `key` is valid during the call only: the next key is
 * decoded into the same bytes. The callee owns `versions`. Throws CoderError for damage and for a chunk of another
 * kind.
 */
export function decodeCheckpointEntries(
  chunk: Uint8Array,
  visit: (key: Uint8Array, versions: readonly VersionMeta[]) => void,
): void {
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
