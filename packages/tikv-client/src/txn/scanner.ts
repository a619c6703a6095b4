import { EMPTY_BYTES, compareBytes, keySuccessor, keyText } from '@engram/core';
import type { Backoffer } from '../backoff/backoffer.ts';
import type { Engine } from '../engine.ts';
import type { KvPair, LockInfo } from '../proto/gen/kvrpcpb.ts';
import { lowerEnd, upperStart } from '../region/region.ts';
import type { Call, CallOptions } from '../runtime/call.ts';
import { commands } from '../transport/commands.ts';
import { lockOf } from './lock.ts';
import type { ScanBudget } from './scan-budget.ts';
import type { Snapshot } from './snapshot.ts';

export interface Entry {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

/** The range and the options of a scan. The bounds are store keys. */
export interface ScanRange {
  readonly start: Uint8Array;
  readonly end: Uint8Array;
  readonly reverse: boolean;
  readonly keysOnly: boolean;
  readonly limit: number;
  readonly pageRows: number | undefined;
}

const FIRST_PAGE_ROWS = 256;
const PAGE_ROWS_MIN = 16;
const PAGE_ROWS_MAX = 4_096;
/** Pieces of a scan that are read at a time, if the ScanBudget has room. Each piece holds at most one page. */
const PIECES = 4;

/**
 * The rows of a range, page by page, in order. The range is cut into pieces at the borders of its regions, and pieces are read
 * concurrently. Borders that move later do no harm, because a piece is a range of keys and locates its region for every page.
 */
export async function* scanPages(
  engine: Engine,
  snapshot: Snapshot,
  range: ScanRange,
  options: CallOptions,
): AsyncGenerator<readonly Entry[], void, undefined> {
  let left = range.limit;
  const { scans } = engine;
  const sizing = new PageSizing(range, scans);
  // The first piece alone usually serves a small limit, so reading further pieces ahead has no use.
  const width = range.limit <= FIRST_PAGE_ROWS ? 1 : Math.min(PIECES, engine.settings.concurrency);
  const stop = new AbortController();
  const pieces: Piece[] = [];
  const cutter = new Cutter(engine, range);
  try {
    for (;;) {
      while (pieces.length < width && !cutter.done) {
        if (pieces.length > 0 && !scans.hasRoom) break;
        const cut = await cutter.next(engine.call(options));
        const piece = new Piece(engine, snapshot, range, cut, sizing, options, stop.signal);
        pieces.push(piece);
        piece.readAhead(left);
      }
      const head = pieces[0];
      if (head === undefined || left <= 0) return;
      const page = await head.next(left);
      if (page === undefined) {
        pieces.shift();
        continue;
      }
      if (page.length === 0) continue;
      left -= page.length;
      yield page.length + left < page.length ? page.slice(0, page.length + left) : page;
      if (left <= 0) return;
    }
  } finally {
    stop.abort();
    for (const piece of pieces) piece.drop();
  }
}

/** Chooses the rows of a page so that the page has about the bytes that the budget allows, whatever the size of the rows. */
class PageSizing {
  readonly #budget: ScanBudget;
  readonly #fixedRows: number | undefined;
  #rowBytes: number | undefined;
  #rowsMax = FIRST_PAGE_ROWS;

  constructor(range: ScanRange, budget: ScanBudget) {
    this.#budget = budget;
    this.#fixedRows = range.pageRows;
  }

  get rows(): number {
    if (this.#fixedRows !== undefined) return this.#fixedRows;
    if (this.#rowBytes === undefined) return FIRST_PAGE_ROWS;
    const wanted = Math.floor(this.#budget.pageBytes / Math.max(1, this.#rowBytes));
    return Math.min(this.#rowsMax, Math.max(PAGE_ROWS_MIN, wanted));
  }

  learn(page: readonly KvPair[]): void {
    if (page.length === 0) return;
    let bytes = 0;
    for (const { key, value } of page) bytes += key.length + value.length;
    this.#rowBytes = bytes / page.length;
    // Later rows may be larger than earlier ones, so pages grow step by step.
    this.#rowsMax = Math.min(PAGE_ROWS_MAX, Math.max(this.#rowsMax, page.length * 4));
  }
}

/** Walks the regions of a range in the direction of the scan, and returns the piece of the range in each region. */
class Cutter {
  readonly #engine: Engine;
  readonly #range: ScanRange;
  #cursor: Uint8Array;
  done = false;

  constructor(engine: Engine, range: ScanRange) {
    this.#engine = engine;
    this.#range = range;
    this.#cursor = range.reverse ? range.end : range.start;
  }

  async next(call: Call): Promise<{ start: Uint8Array; end: Uint8Array }> {
    const { start, end, reverse } = this.#range;
    const { locator } = this.#engine;
    const backoffer = this.#engine.backoffer(call);
    if (reverse) {
      const region = await locator.locateEnd(this.#cursor, backoffer);
      const piece = { start: upperStart(region.start, start), end: this.#cursor };
      this.#cursor = piece.start;
      this.done = compareBytes(piece.start, start) <= 0;
      return piece;
    }
    if (locator.cached(this.#cursor, call) === undefined) await locator.prefetch(this.#cursor, end, call);
    const region = await locator.locate(this.#cursor, backoffer);
    const piece = { start: this.#cursor, end: lowerEnd(region.end, end) };
    this.#cursor = piece.end;
    this.done = piece.end.length === 0 || (end.length > 0 && compareBytes(piece.end, end) >= 0);
    return piece;
  }
}

class Piece {
  readonly #engine: Engine;
  readonly #snapshot: Snapshot;
  readonly #range: ScanRange;
  readonly #sizing: PageSizing;
  readonly #options: CallOptions;
  readonly #stop: AbortSignal;
  #start: Uint8Array;
  #end: Uint8Array;
  #done = false;
  /** A page that was requested and not taken yet. The budget counts it. */
  #ahead: Promise<readonly Entry[] | undefined> | undefined;

  constructor(
    engine: Engine,
    snapshot: Snapshot,
    range: ScanRange,
    piece: { start: Uint8Array; end: Uint8Array },
    sizing: PageSizing,
    options: CallOptions,
    stop: AbortSignal,
  ) {
    this.#engine = engine;
    this.#snapshot = snapshot;
    this.#range = range;
    this.#sizing = sizing;
    this.#options = options;
    this.#stop = stop;
    this.#start = piece.start;
    this.#end = piece.end;
  }

  /** The next page, undefined at the end of the piece. `left`: remaining rows of the limit of the whole scan. */
  async next(left: number): Promise<readonly Entry[] | undefined> {
    this.#ahead ??= this.#ask(left);
    let page: readonly Entry[] | undefined;
    try {
      page = await this.#ahead;
    } finally {
      this.#engine.scans.release();
      this.#ahead = undefined;
    }
    if (page !== undefined && page.length < left) this.readAhead(left - page.length);
    return page;
  }

  /** Requests the next page before the scan waits for it, if the budget has room. */
  readAhead(left: number): void {
    if (!this.#done && this.#engine.scans.hasRoom) this.#ahead ??= this.#ask(left);
  }

  /** Ends the piece. A page under way counts against the budget until its answer arrives. */
  drop(): void {
    const release = (): void => this.#engine.scans.release();
    this.#ahead?.then(release, release);
  }

  #ask(left: number): Promise<readonly Entry[] | undefined> {
    this.#engine.scans.hold();
    const page = this.#page(left);
    page.catch(() => {}); // `next` reports the error; after `drop` it does not matter
    return page;
  }

  async #page(left: number): Promise<readonly Entry[] | undefined> {
    if (this.#done || this.#stop.aborted) return undefined;
    const call = this.#engine.call(this.#options);
    await this.#snapshot.checkTimestamp(call);
    const backoffer = this.#engine.backoffer(call);
    const { reverse, keysOnly } = this.#range;
    for (let attempt = 0; ; attempt += 1) {
      const { locator } = this.#engine;
      const region = reverse
        ? await locator.locateEnd(this.#end, backoffer)
        : await locator.locate(this.#start, backoffer);
      const start = upperStart(region.start, this.#start);
      const end = lowerEnd(region.end, this.#end);
      const limit = Math.min(this.#sizing.rows, Math.max(1, left));
      const request = {
        startKey: reverse ? end : start,
        endKey: reverse ? start : end,
        limit,
        version: this.#snapshot.timestamp,
        keyOnly: keysOnly,
        reverse,
      };
      const result = await this.#engine.onRegion(
        region,
        commands.scan,
        request,
        backoffer,
        attempt,
        this.#snapshot.sendOptions,
      );
      if (result.kind === 'relocate') continue;
      const { response } = result;
      if (response.error !== undefined) {
        await this.#snapshot.meetLocks([lockOf(response.error)], backoffer, attempt > 0);
        continue;
      }
      this.#sizing.learn(response.pairs);
      this.#advance(response.pairs, limit, start, end);
      return this.#entries(response.pairs, backoffer);
    }
  }

  /** Moves the start (`reverse`: the end) of the piece past the rows that the page covers. */
  #advance(pairs: readonly KvPair[], limit: number, start: Uint8Array, end: Uint8Array): void {
    const last = pairs[pairs.length - 1];
    const full = last !== undefined && pairs.length >= limit;
    if (this.#range.reverse) {
      this.#end = full ? keyOf(last) : start;
      this.#done = this.#end.length === 0 || compareBytes(this.#end, this.#start) <= 0;
    } else {
      this.#start = full ? keySuccessor(keyOf(last)) : end;
      this.#done = this.#start.length === 0 || (this.#end.length > 0 && compareBytes(this.#start, this.#end) >= 0);
    }
  }

  /** The rows of a page. Resolves its locked rows together, and reads only those rows again. */
  async #entries(pairs: readonly KvPair[], backoffer: Backoffer): Promise<readonly Entry[]> {
    const locks: LockInfo[] = [];
    for (const { error } of pairs) if (error !== undefined) locks.push(lockOf(error));
    if (locks.length === 0) return pairs as readonly Entry[];
    await this.#snapshot.meetLocks(locks, backoffer, false);
    const lockedKeys = pairs.filter(({ error }) => error !== undefined).map(keyOf);
    const values = await this.#snapshot.getStoreKeys(lockedKeys, backoffer);
    return pairs.flatMap((pair) => {
      if (pair.error === undefined) return [{ key: pair.key, value: pair.value }];
      const value = values.get(keyText(keyOf(pair)));
      return value === undefined ? [] : [{ key: keyOf(pair), value: this.#range.keysOnly ? EMPTY_BYTES : value }];
    });
  }
}

/** The key of a row. A locked row may have its key only in the lock. */
const keyOf = (pair: KvPair): Uint8Array =>
  pair.key.length > 0 || pair.error?.locked === undefined ? pair.key : pair.error.locked.key;
