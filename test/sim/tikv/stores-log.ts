import { type LogPosition, NEW_LOG_SEAL, type Seal, sameSeal } from '@engram/core';
import type { LogBatch } from '@engram/storage';
import {
  type BatchPart,
  decodeBatch,
  decodeImageRoot,
  decodePart,
  decodeSeal,
  type ImageRoot,
  type LogKeys,
} from '@engram/storage-tikv/testing';
import type { FakeCluster } from '@engram/tikv-client/testing';
import { expectThat } from '../judge/finding.ts';

export interface StoresLogOptions {
  readonly stores: FakeCluster;
  readonly keys: LogKeys;
  /** A batch is in the log, and nobody knows of it yet. */
  readonly onBatch: (batch: LogBatch, seal: Seal) => void;
  /** Another seal holds the log. */
  readonly onSealed: (seal: Seal) => void;
  readonly onSegment: (segment: number, from: LogPosition | undefined) => void;
  readonly onImageRoot: (root: ImageRoot, before: ImageRoot | undefined) => void;
  /** A piece of an image is written, and its round is not published yet. */
  readonly onPiece: (key: Uint8Array) => void;
  /** Called with the process of a member that reports what it needs. */
  readonly onNeed: (key: { readonly member: bigint; readonly process: bigint }, from: number) => void;
  readonly guarded: (work: () => void) => void;
}

/**
 * The log as the stores have it: what is committed, in the order of the commits. It must keep the rules of the log. A segment
 * is written only while it is the last one and by the owner that the seal before it names, and nothing is written behind a
 * seal.
 */
export class StoresLog {
  readonly #options: StoresLogOptions;
  /** The parts of the batch that is being written. */
  #parts: BatchPart[] = [];
  root: ImageRoot | undefined;
  sealed: Seal = NEW_LOG_SEAL;
  /** The one that is written now. */
  segment = 1;
  /** Of the epoch that holds the log. */
  #birth = 0n;
  #opener = 0n;

  constructor(options: StoresLogOptions) {
    this.#options = options;
    options.stores.mvcc.onCommitted = (key, { kind, value }) => {
      if (kind === 'put') options.guarded(() => this.#committed(key, value));
    };
  }

  #committed(key: Uint8Array, value: Uint8Array): void {
    const { keys, onNeed, onImageRoot, onPiece } = this.#options;
    const named = keys.parse(key);
    if (named?.kind === 'seal') this.#seal(named.segment, value);
    else if (named?.kind === 'slot') this.#part(named.segment, named.first, value);
    else if (Buffer.compare(key, keys.image) === 0) {
      const before = this.root;
      this.root = decodeImageRoot(value)!;
      onImageRoot(this.root, before);
    } else if (keys.parsePiece(key) !== undefined) onPiece(key);
    else {
      const need = keys.parseNeed(key);
      if (need === undefined) return;
      const view = new DataView(value.buffer, value.byteOffset, value.byteLength);
      onNeed(need, Number(view.getBigUint64(0, true)));
    }
  }

  #seal(segment: number, value: Uint8Array): void {
    const { onSealed, onSegment } = this.#options;
    const owner = decodeSeal(value);
    expectThat(owner !== undefined, 'log', () => `the seal of segment ${segment} is damaged`);
    expectThat(
      segment === this.segment,
      'log',
      () => `segment ${segment} is sealed, and the log is in ${this.segment}`,
    );
    this.segment += 1;
    this.#parts = [];
    const { seal, begin, birth, opener } = owner;
    const other = !sameSeal(seal, this.sealed);
    const before = this.#birth;
    // Another process of the holder takes the log over as another holder does.
    const takesOver = other || opener !== this.#opener;
    expectThat(birth !== undefined && (takesOver ? birth > before : birth === before), 'log', () => {
      return `segment ${segment} is sealed by an epoch born at ${birth}, after one born at ${before}`;
    });
    this.#birth = birth ?? before;
    this.#opener = opener;
    this.sealed = seal;
    onSegment(this.segment, begin?.next);
    if (other) onSealed(seal);
  }

  #part(segment: number, first: number, value: Uint8Array): void {
    const { onBatch } = this.#options;
    const what = (): string => `record ${first} is written into segment ${segment}`;
    expectThat(segment === this.segment, 'log', () => `${what()}, and the log is in ${this.segment}`);
    const part = decodePart(value);
    expectThat(part !== undefined, 'log', () => `${what()}, and is damaged`);
    const { header } = part;
    expectThat(sameSeal(header.seal, this.sealed), 'log', () => `${what()} by another than its owner`);
    if (header.part === 0) this.#parts = [];
    expectThat(header.part === this.#parts.length, 'log', () => `${what()}: part ${header.part} out of order`);
    this.#parts.push(part);
    if (this.#parts.length < header.parts) return;
    const batch = decodeBatch(this.#parts, true);
    this.#parts = [];
    expectThat(batch !== undefined, 'log', () => `${what()}, and its chain is not that of its bytes`);
    onBatch({ first: batch.first, records: batch.records }, header.seal);
  }
}
