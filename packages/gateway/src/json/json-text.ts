import { isUtf8 } from 'node:buffer';
import { GrpcCode } from '@engram/core';
import { byteSteps, type PureJob, type Turn } from '@engram/loop';
import { StatusError } from '@engram/wire';

/** The texts of encoding/json, as etcd's gateway gives them. */
const unexpectedEnd = (): StatusError => new StatusError(GrpcCode.INVALID_ARGUMENT, 'unexpected EOF');

const noText = (): StatusError => new StatusError(GrpcCode.INVALID_ARGUMENT, 'proto: invalid UTF-8 in string');

/** A longer number is refused: none that fits into 64 bits needs as many characters. */
const NUMBER_CHARACTERS_MAX = 1024;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/;
/** Bytes of a string that are looked at between two questions for the slice. */
const CHUNK_BYTES = 32 * 1024;
/** Go's bound on values within values (encoding/json: maxNestingDepth). */
const DEPTH_MAX = 10_000;

/** What a string may not have (RFC 8259, 7). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\x00-\x1f]/;
/** Half of a character outside of the first plane, and whether it is the first half with the other behind it. */
const HALF = /^\\u[dD](?:[89abAB][\da-fA-F]{2}(\\u[dD][c-fC-F][\da-fA-F]{2})|[89a-fA-F])/;
const SHORT_ESCAPES = Buffer.from('"\\/bfnrt');

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
  /** Values around the next byte that have begun and not ended. */
  #depth = 0;
  /** The first backslash at or after the last place that asked; past the end if there is none. */
  #backslash = -1;
  /** Strings must be text, too: the second of Go's two looks at a value. */
  #wantsText = true;

  constructor(bytes: Uint8Array, turn: Turn) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#turn = turn;
  }

  /** Where the next byte is read. */
  get position(): number {
    return this.#at;
  }

  /** A reader of the same bytes, from a place that `position` has told. It looks at what is JSON alone. */
  from(position: number): JsonText {
    const text = new JsonText(this.bytes, this.#turn);
    text.#at = position;
    text.#wantsText = false;
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
    this.#depth += 1;
    if (this.#depth > DEPTH_MAX) this.#unexpected('exceeded max depth');
    this.#at += 1;
    if ((yield* this.#next()) !== closing(kind)) return true;
    this.#leave();
    return false;
  }

  /** After a member: whether there is another one. */
  *another(kind: 'object' | 'list'): PureJob<boolean> {
    const next = yield* this.#next();
    if (next === closing(kind)) {
      this.#leave();
      return false;
    }
    if (next !== COMMA) {
      this.#unexpected(kind === 'object' ? 'after object key:value pair' : 'after array element');
    }
    this.#at += 1;
    return true;
  }

  #leave(): void {
    this.#at += 1;
    this.#depth -= 1;
  }

  /** The name of an object's member, with its colon. */
  *name(): PureJob<JsonString> {
    if ((yield* this.#next()) !== QUOTE) this.#unexpected('looking for beginning of object key string');
    const name = yield* this.string();
    yield* this.check(name);
    if ((yield* this.#next()) !== COLON) this.#unexpected('after object key');
    this.#at += 1;
    return name;
  }

  /** The next value, which is a string. What is in it is not looked at: see `check`. */
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

  /** Throws if a string has bytes that JSON does not allow, or escapes that it does not know, or is no text. */
  *check({ start, end, escaped }: JsonString): PureJob<void> {
    const { bytes } = this;
    if (this.#wantsText && !isUtf8(bytes.subarray(start, end))) throw noText();
    for (let at = start; at < end; ) {
      const from = at;
      const chunkEnd = Math.min(end, at + CHUNK_BYTES);
      if (escaped) while (at < chunkEnd) at += this.#characterAt(at);
      else {
        const control = CONTROL.exec(bytes.toString('latin1', at, chunkEnd));
        if (control !== null) this.#unexpectedAt(at + control.index, 'in string literal');
        at = chunkEnd;
      }
      if (this.#turn.shouldYield(byteSteps(at - from))) yield;
    }
  }

  /** The bytes of the next character of a string, an escape included. */
  #characterAt(at: number): number {
    const { bytes } = this;
    if (bytes[at]! < 0x20) this.#unexpectedAt(at, 'in string literal');
    if (bytes[at] !== BACKSLASH) return 1;
    if (bytes[at + 1] !== 0x75) {
      if (!SHORT_ESCAPES.includes(bytes[at + 1]!)) this.#unexpectedAt(at + 1, 'in string escape code');
      return 2;
    }
    for (let digit = at + 2; digit < at + 6; digit += 1) {
      if (!isHex(bytes[digit]!)) this.#unexpectedAt(digit, 'in \\u hexadecimal character escape');
    }
    const half = HALF.exec(bytes.toString('latin1', at, at + 12));
    if (half === null || !this.#wantsText) return 6;
    if (half[1] === undefined) throw noText();
    return 12;
  }

  /** The next value, which is a number. */
  number(): string {
    const start = this.#at;
    while (this.#at < this.bytes.length && isOfNumber(this.bytes[this.#at]!)) this.#at += 1;
    const characters = this.bytes.toString('latin1', start, Math.min(this.#at, start + NUMBER_CHARACTERS_MAX));
    const text = NUMBER.exec(characters)?.[0];
    this.#at = start + (text?.length ?? 1);
    if (text !== undefined) {
      this.#checkEndOfNumber(text);
      return text;
    }
    if (this.#at === this.bytes.length) throw unexpectedEnd();
    this.#unexpected('in numeric literal');
  }

  /** A point or an exponent behind a number begins a part of it that is missing. */
  #checkEndOfNumber(text: string): void {
    const next = this.bytes[this.#at];
    const isExponent = (next === 0x65 || next === 0x45) && !/e/i.test(text);
    if (!isExponent && !(next === 0x2e && !/[.e]/i.test(text))) return;
    this.#at += 1;
    const sign = this.bytes[this.#at];
    if (isExponent && (sign === 0x2b || sign === 0x2d)) this.#at += 1;
    if (this.#at === this.bytes.length) throw unexpectedEnd();
    this.#unexpected(isExponent ? 'in exponent of numeric literal' : 'after decimal point in numeric literal');
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
      } else if (kind === 'string') yield* this.check(yield* this.string());
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

  #unexpectedAt(at: number, where: string): never {
    this.#at = at;
    this.#unexpected(where);
  }

  #unexpected(where: string): never {
    const quoted = quotedCharacter(this.bytes[this.#at]!);
    throw new StatusError(GrpcCode.INVALID_ARGUMENT, `invalid character '${quoted}' ${where}`);
  }
}

const goEscapes: ReadonlyMap<number, string> = new Map([
  [0x07, '\\a'],
  [0x08, '\\b'],
  [0x09, '\\t'],
  [0x0a, '\\n'],
  [0x0b, '\\v'],
  [0x0c, '\\f'],
  [0x0d, '\\r'],
  [0x27, "\\'"],
  [0x5c, '\\\\'],
]);

/** The character of this number as Go names it (encoding/json: quoteChar; strconv.Quote). */
function quotedCharacter(code: number): string {
  const short = goEscapes.get(code);
  if (short !== undefined) return short;
  const hex = code.toString(16).padStart(2, '0');
  if (code < 0x20 || code === 0x7f) return `\\x${hex}`;
  return (code >= 0x80 && code <= 0xa0) || code === 0xad ? `\\u00${hex}` : String.fromCharCode(code);
}

const closing = (kind: 'object' | 'list'): number => (kind === 'object' ? CLOSE : CLOSE_LIST);
const isSpace = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
const isDigit = (byte: number): boolean => (byte >= 0x30 && byte <= 0x39) || byte === 0x2d;
const isHex = (byte: number): boolean => /[\da-fA-F]/.test(String.fromCharCode(byte));
/** Digits, signs, the point, and e. */
const isOfNumber = (byte: number): boolean =>
  isDigit(byte) || byte === 0x2b || byte === 0x2e || byte === 0x65 || byte === 0x45;
