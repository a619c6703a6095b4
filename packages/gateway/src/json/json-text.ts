import { GrpcCode } from '@engram/core';
import type { PureJob, Turn } from '@engram/loop';
import { StatusError } from '@engram/wire';

/** The texts of encoding/json, as etcd's gateway gives them. */
const unexpectedEnd = (): StatusError => new StatusError(GrpcCode.INVALID_ARGUMENT, 'unexpected EOF');

/** A longer number is refused: none that fits into 64 bits needs as many characters. */
const NUMBER_CHARACTERS_MAX = 1024;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/;
/** Bytes of a string that are looked at between two questions for the slice. */
const CHUNK_BYTES = 32 * 1024;
/** Go's bound on values within values (encoding/json: maxNestingDepth). */
const DEPTH_MAX = 10_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = '{'.charCodeAt(0);
const CLOSE = '}'.charCodeAt(0);
const OPEN_LIST = '['.charCodeAt(0);
const CLOSE_LIST = ']'.charCodeAt(0);
const COMMA = ','.charCodeAt(0);
const COLON = ':'.charCodeAt(0);

/** What a value begins with. */
export type JsonKind = 'object' | 'list' | 'string' | 'number' | 'true' | 'false' | 'null';

/** A string of the text: its bytes between the quotes, and whether any of them is escaped. */
export interface JsonString {
  readonly start: number;
  readonly end: number;
  readonly escaped: boolean;
}

/**
 * JSON values one after another in bytes, read piece by piece. Nothing is built for what is passed over. Everything that may be
 * long is a job. Throws StatusError with INVALID_ARGUMENT for what is no JSON.
 */
export class JsonText {
  readonly bytes: Buffer;
  readonly #turn: Turn;
  #at = 0;
  /** The first backslash at or after the last place that asked; past the end if there is none. */
  #backslash = -1;

  constructor(bytes: Uint8Array, turn: Turn) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#turn = turn;
  }

  /** Where the next byte is read. */
  get position(): number {
    return this.#at;
  }

  /** A reader of the same bytes, from a place that `position` has told. */
  from(position: number): JsonText {
    const text = new JsonText(this.bytes, this.#turn);
    text.#at = position;
    return text;
  }

  /** Whether another value begins, after spaces. */
  *more(): PureJob<boolean> {
    const { bytes } = this;
    for (let spaces = 1; this.#at < bytes.length && isSpace(bytes[this.#at]!); spaces += 1) {
      this.#at += 1;
      if (spaces % CHUNK_BYTES === 0 && this.#turn.shouldYield(CHUNK_BYTES / 1024)) yield;
    }
    return this.#at < bytes.length;
  }

  /** The kind of the next value. It is not read yet. */
  *kind(): PureJob<JsonKind> {
    switch (yield* this.#next()) {
      case OPEN:
        return 'object';
      case OPEN_LIST:
        return 'list';
      case QUOTE:
        return 'string';
      case 't'.charCodeAt(0):
        return 'true';
      case 'f'.charCodeAt(0):
        return 'false';
      case 'n'.charCodeAt(0):
        return 'null';
      default:
        return isDigit(this.bytes[this.#at]!) ? 'number' : this.#unexpected('looking for beginning of value');
    }
  }

  /** After the bracket of an object or a list: whether it has a member. */
  *enter(kind: 'object' | 'list'): PureJob<boolean> {
    this.#at += 1;
    if ((yield* this.#next()) !== closing(kind)) return true;
    this.#at += 1;
    return false;
  }

  /** After a member: whether there is another one. */
  *another(kind: 'object' | 'list'): PureJob<boolean> {
    const next = yield* this.#next();
    if (next === closing(kind)) {
      this.#at += 1;
      return false;
    }
    if (next !== COMMA) {
      this.#unexpected(kind === 'object' ? 'after object key:value pair' : 'after array element');
    }
    this.#at += 1;
    return true;
  }

  /** The name of an object's member, with its colon. */
  *name(): PureJob<JsonString> {
    if ((yield* this.#next()) !== QUOTE) this.#unexpected('looking for beginning of object key string');
    const name = yield* this.string();
    if ((yield* this.#next()) !== COLON) this.#unexpected('after object key');
    this.#at += 1;
    return name;
  }

  /** The next value, which is a string. */
  *string(): PureJob<JsonString> {
    const { bytes } = this;
    const start = this.#at + 1;
    for (let at = start; ; ) {
      const quote = bytes.indexOf(QUOTE, at);
      if (quote < 0) throw unexpectedEnd();
      let before = quote;
      while (before > at && bytes[before - 1] === BACKSLASH) before -= 1;
      at = quote + 1;
      if ((quote - before) % 2 === 0) {
        this.#at = at;
        return { start, end: quote, escaped: this.#hasBackslash(start, quote) };
      }
      if (this.#turn.shouldYield()) yield;
    }
  }

  /** The next value, which is a number. */
  number(): string {
    const start = this.#at;
    while (this.#at < this.bytes.length && isOfNumber(this.bytes[this.#at]!)) this.#at += 1;
    const characters = this.bytes.toString('latin1', start, Math.min(this.#at, start + NUMBER_CHARACTERS_MAX));
    const text = NUMBER.exec(characters)?.[0];
    this.#at = start + (text?.length ?? 1);
    if (text !== undefined) return text;
    if (this.#at === this.bytes.length) throw unexpectedEnd();
    this.#unexpected('in numeric literal');
  }

  /** The next value, which is one of these words. */
  word(word: 'true' | 'false' | 'null'): void {
    for (const letter of word) {
      if (this.#at === this.bytes.length) throw unexpectedEnd();
      if (this.bytes[this.#at] !== letter.charCodeAt(0)) this.#unexpected(`in literal ${word} (expecting '${letter}')`);
      this.#at += 1;
    }
  }

  /** Passes over the next value, however deep it is. */
  *skip(): PureJob<void> {
    const open: ('object' | 'list')[] = [];
    do {
      const kind = yield* this.kind();
      let within = false;
      if (kind === 'object' || kind === 'list') {
        within = yield* this.enter(kind);
        if (within) open.push(kind);
        if (open.length > DEPTH_MAX) throw new StatusError(GrpcCode.INVALID_ARGUMENT, 'exceeded max depth');
      } else if (kind === 'string') yield* this.string();
      else if (kind === 'number') this.number();
      else this.word(kind);
      // What has ended may end what it is in.
      while (!within && open.length > 0) {
        within = yield* this.another(open.at(-1)!);
        if (!within) open.pop();
      }
      if (open.at(-1) === 'object') yield* this.name();
      if (this.#turn.shouldYield()) yield;
    } while (open.length > 0);
  }

  #hasBackslash(start: number, end: number): boolean {
    if (this.#backslash < start) {
      const found = this.bytes.indexOf(BACKSLASH, start);
      this.#backslash = found < 0 ? this.bytes.length : found;
    }
    return this.#backslash < end;
  }

  *#next(): PureJob<number> {
    if (!(yield* this.more())) throw unexpectedEnd();
    return this.bytes[this.#at]!;
  }

  #unexpected(where: string): never {
    const character = String.fromCharCode(this.bytes[this.#at]!);
    const quoted =
      character === "'" ? "'\\''" : character === '"' ? `'"'` : `'${JSON.stringify(character).slice(1, -1)}'`;
    throw new StatusError(GrpcCode.INVALID_ARGUMENT, `invalid character ${quoted} ${where}`);
  }
}

const closing = (kind: 'object' | 'list'): number => (kind === 'object' ? CLOSE : CLOSE_LIST);
const isSpace = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
const isDigit = (byte: number): boolean => (byte >= 0x30 && byte <= 0x39) || byte === 0x2d;
/** Digits, signs, the point, and e. */
const isOfNumber = (byte: number): boolean =>
  isDigit(byte) || byte === 0x2b || byte === 0x2e || byte === 0x65 || byte === 0x45;
