import { assert, type ByteList, ByteViews, type PagedBytes } from '@engram/core';
import { sizeVarint, writeVarint } from '@engram/protobuf';
import type { LongMessage } from '../rpc.ts';
import type { PagedRangeAnswer, RangeAnswer } from './answer.ts';

/** Maximum length of a field's tag and length prefix, for a message of at most 4 GiB. */
const FIELD_HEAD_BYTES_MAX = 6;
const KVS_TAG = 18;

/**
 * A RangeResponse that is assembled while it is sent. Each version is copied once, from its page into the buffer for
 * the kernel. So a list of all keys needs no buffer of its size, and its assembly does not block other requests. For a
 * slow client the message holds views instead of copies, or positions if the versions are read in pages.
 */
export class RangeMessage implements LongMessage {
  readonly bytes: number;
  readonly #kvs: ByteViews | PagedBytes;
  readonly #paged: PagedBytes | undefined;
  readonly #end: Uint8Array;
  /** The part that is being copied: the header, a version, the end, or the head of a field that did not fit. */
  #part: Uint8Array;
  #partAt = 0;
  /** The version whose head is in `#part`. */
  #behind: Uint8Array | undefined;
  #next = 0;
  /** Bytes of the versions before `#next`. */
  #begunBytes = 0;
  #ended = false;

  /** `header` is an encoded ResponseHeader. `answer.kvs` must not change until the message is read to its end. */
  constructor(header: Uint8Array, answer: RangeAnswer | PagedRangeAnswer) {
    this.#paged = answer.kind === 'paged-range' ? answer.kvs : undefined;
    const kvs = this.#paged ?? viewsOf(answer.kvs);
    this.#kvs = kvs;
    this.#part = fieldHead(10, header.length, header);
    this.#end = endOf(answer);
    let bytes = this.#part.length + this.#end.length;
    for (let index = 0; index < kvs.length; index += 1) bytes += 1 + sizeVarint(kvs.lengthOf(index));
    this.bytes = bytes + kvs.bytes;
  }

  get heldBytes(): number {
    return this.#paged?.heldBytes ?? this.bytes;
  }

  prepare(bytes: number): Promise<void> | undefined {
    const paged = this.#paged;
    // The rest of `#part` is not counted, so this may bring one version more than needed.
    return paged === undefined || paged.broughtBytes - this.#begunBytes >= bytes
      ? undefined
      : paged.bring(this.#next, this.#begunBytes + bytes);
  }

  drop(): void {
    this.#paged?.[Symbol.dispose]();
  }

  read(target: Uint8Array, start: number, end: number): number {
    let at = this.#copyPart(target, start, end);
    while (at < end && !this.#ended) {
      if (this.#behind !== undefined) {
        this.#part = this.#behind;
        this.#behind = undefined;
      } else if (this.#next === this.#kvs.length) {
        this.#part = this.#end;
        this.#ended = true;
      } else {
        const kv = this.#kvs.view(this.#next);
        this.#next += 1;
        this.#begunBytes += kv.length;
        if (at + FIELD_HEAD_BYTES_MAX <= end) {
          target[at] = KVS_TAG;
          at = writeVarint(kv.length, target, at + 1);
          if (at + kv.length <= end) {
            target.set(kv, at);
            at += kv.length;
            continue;
          }
          this.#part = kv;
        } else {
          this.#part = fieldHead(KVS_TAG, kv.length);
          this.#behind = kv;
        }
      }
      this.#partAt = 0;
      at = this.#copyPart(target, at, end);
    }
    return at;
  }

  #copyPart(target: Uint8Array, at: number, end: number): number {
    const left = this.#part.length - this.#partAt;
    const bytes = Math.min(left, end - at);
    if (bytes === 0) return at;
    target.set(bytes === this.#part.length ? this.#part : this.#part.subarray(this.#partAt, this.#partAt + bytes), at);
    this.#partAt += bytes;
    return at + bytes;
  }
}

const viewsOf = (kvs: ByteList | PagedBytes): ByteViews | PagedBytes => ('bytes' in kvs ? kvs : ByteViews.of(kvs));

function fieldHead(tag: number, length: number, content: Uint8Array = new Uint8Array(0)): Uint8Array {
  const head = new Uint8Array(FIELD_HEAD_BYTES_MAX + content.length);
  head[0] = tag;
  const at = writeVarint(length, head, 1);
  head.set(content, at);
  return head.subarray(0, at + content.length);
}

/** The fields `more` and `count`. */
function endOf({ more, count }: { readonly more: boolean; readonly count: number }): Uint8Array {
  assert(count >= 0, 'a count below 0');
  const end = new Uint8Array(13);
  let at = 0;
  if (more) {
    end.set([24, 1]);
    at = 2;
  }
  if (count > 0) {
    end[at] = 32;
    at = writeVarint(count, end, at + 1);
  }
  return end.subarray(0, at);
}
