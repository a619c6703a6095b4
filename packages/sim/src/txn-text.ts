import {
  type Compare,
  CompareResult,
  CompareTarget,
  EMPTY_BYTES,
  keyBytes,
  type KeyRange,
  leaseId,
  NO_LEASE,
  type Op,
  putOp,
  rangeOp,
  type Txn,
} from '@engram/core';

const targets = new Map(Object.entries(CompareTarget).map(([name, number]) => [name.toLowerCase(), number]));
const results: ReadonlyMap<string, number> = new Map([
  ['=', CompareResult.EQUAL],
  ['>', CompareResult.GREATER],
  ['<', CompareResult.LESS],
  ['!=', CompareResult.NOT_EQUAL],
]);

/** Reads a transaction of a transcript: packages/sequencer/testdata/README.md has the grammar. Throws if the text is no transaction. */
export function parseTxn(text: string): Txn {
  const words = new Words(
    text
      .replaceAll(/([();])/g, ' $1 ')
      .split(/\s+/)
      .filter(Boolean),
  );
  const txn = parse(words);
  if (words.next !== undefined) throw new Error(`${words.next} comes after the transaction`);
  return txn;
}

class Words {
  readonly #words: string[];

  constructor(words: string[]) {
    this.#words = words;
  }

  get next(): string | undefined {
    return this.#words[0];
  }

  take(): string {
    const word = this.#words.shift();
    if (word === undefined) throw new Error('the transaction ends too early');
    return word;
  }

  /** Takes the next word if it is this one. */
  skip(word: string): boolean {
    if (this.next !== word) return false;
    this.#words.shift();
    return true;
  }
}

function parse(words: Words): Txn {
  const compares: Compare[] = [];
  if (words.skip('if')) {
    do compares.push(parseCompare(words));
    while (words.skip('and'));
    if (!words.skip('then')) throw new Error('then is missing');
  }
  const success = parseOps(words);
  return { compares, success, failure: words.skip('else') ? parseOps(words) : [] };
}

function parseOps(words: Words): readonly Op[] {
  const ops: Op[] = [];
  if (words.next === undefined || words.next === ')' || words.next === 'else') return ops;
  do ops.push(parseOp(words));
  while (words.skip(';'));
  return ops;
}

function parseOp(words: Words): Op {
  const kind = words.take();
  switch (kind) {
    case '(': {
      const txn = parse(words);
      if (!words.skip(')')) throw new Error(') is missing');
      return { kind: 'txn', txn };
    }
    case 'put': {
      const key = keyBytes(words.take());
      const value = keyBytes(words.take());
      const lease = words.skip('lease') ? leaseId(BigInt(words.take())) : NO_LEASE;
      const ignoreValue = words.skip('ignore-value');
      const ignoreLease = words.skip('ignore-lease');
      return putOp(key, value, { lease, ignoreValue, ignoreLease, prevKv: words.skip('prev') });
    }
    case 'delete':
      return { kind: 'delete-range', range: parseRange(words.take()), prevKv: words.skip('prev') };
    case 'range':
      return rangeOp(parseRange(words.take()), { revision: words.skip('at') ? Number(words.take()) : 0 });
    default:
      throw new Error(`no operation ${kind}`);
  }
}

function parseCompare(words: Words): Compare {
  const target = targets.get(words.take());
  const range = parseRange(words.take());
  const result = results.get(words.take());
  const operand = words.take();
  if (target === undefined || result === undefined) throw new Error('no such compare');
  return {
    range,
    result,
    target,
    number: target < CompareTarget.VALUE ? Number(operand) : 0,
    lease: target === CompareTarget.LEASE ? leaseId(BigInt(operand)) : NO_LEASE,
    value: target === CompareTarget.VALUE ? keyBytes(operand) : EMPTY_BYTES,
  };
}

/** A key, `a..c` up to c, or `a..` to the last key. */
function parseRange(text: string): KeyRange {
  const [key = '', end] = text.split('..');
  if (end === undefined) return { key: keyBytes(key), end: EMPTY_BYTES };
  return { key: keyBytes(key), end: end === '' ? Uint8Array.of(0) : keyBytes(end) };
}
