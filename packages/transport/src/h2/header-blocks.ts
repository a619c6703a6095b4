import { DEFAULT_HEADER_TABLE_BYTES, ErrorCode, HpackDecoder, Http2Error } from '@engram/http2';
import { HEADER_BLOCK_MAX_BYTES } from './limits.ts';
import { RequestHead, TrailerCheck } from './request-head.ts';

interface Remembered {
  readonly block: Buffer;
  readonly head: RequestHead;
}

/** Clients repeat header blocks: most connections use a handful of methods, each with one header block. */
const rememberedMax = 8;
const rememberedBlockMax = 128;

/**
 * The header blocks of a connection, in order of arrival. A block that spans CONTINUATION frames is gathered first, up
 * to a limit. A block that was seen before with the same dynamic table is not decoded again.
 */
export class HeaderBlocks {
  readonly #decoder = new HpackDecoder(DEFAULT_HEADER_TABLE_BYTES);
  #remembered: Remembered[] = [];
  #rememberedAt = 0;
  #nextForgotten = 0;
  #pieces: Buffer[] = [];
  #piecesBytes = 0;

  /** Keeps a part of a block whose end comes in a later CONTINUATION frame. */
  gather(bytes: Buffer, start: number, end: number): void {
    this.#piecesBytes += end - start;
    if (this.#piecesBytes > HEADER_BLOCK_MAX_BYTES) {
      throw new Http2Error(ErrorCode.ENHANCE_YOUR_CALM, `header block above ${HEADER_BLOCK_MAX_BYTES} bytes`);
    }
    // Copied, because a frame of one byte must not keep its whole chunk alive.
    if (end > start) this.#pieces.push(Buffer.from(bytes.subarray(start, end)));
  }

  /** Returns the gathered block and forgets its parts. */
  gathered(): Buffer {
    const block = Buffer.concat(this.#pieces, this.#piecesBytes);
    this.#pieces = [];
    this.#piecesBytes = 0;
    return block;
  }

  request(bytes: Buffer, start: number, end: number): RequestHead {
    const before = this.#decoder.tableChanges;
    if (before === this.#rememberedAt) {
      for (const { block, head } of this.#remembered) {
        if (sameBytes(block, bytes, start, end)) return head;
      }
    }
    const head = new RequestHead();
    this.#decoder.decode(bytes, start, end, head);
    head.finish();
    if (this.#decoder.tableChanges === before && end - start <= rememberedBlockMax) {
      this.#remember(Buffer.from(bytes.subarray(start, end)), head);
    }
    return head;
  }

  /** Returns why the trailers are malformed; undefined if they are not. */
  trailers(bytes: Buffer, start: number, end: number): string | undefined {
    const check = new TrailerCheck();
    this.#decoder.decode(bytes, start, end, check);
    return check.fault;
  }

  #remember(block: Buffer, head: RequestHead): void {
    const now = this.#decoder.tableChanges;
    if (now !== this.#rememberedAt) {
      this.#remembered = [];
      this.#rememberedAt = now;
    }
    if (this.#remembered.length < rememberedMax) {
      this.#remembered.push({ block, head });
      return;
    }
    this.#remembered[this.#nextForgotten] = { block, head };
    this.#nextForgotten = (this.#nextForgotten + 1) % rememberedMax;
  }
}

function sameBytes(block: Buffer, bytes: Buffer, start: number, end: number): boolean {
  if (block.length !== end - start) return false;
  for (let at = 0; at < block.length; at += 1) {
    if (block[at] !== bytes[start + at]) return false;
  }
  return true;
}
