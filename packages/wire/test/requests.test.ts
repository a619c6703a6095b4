import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CompareTarget, leaseId, type Compare, type Op, type Txn } from '@engram/core';
import {
  decodeDeleteRange,
  decodePut,
  decodeRange,
  CutTxn,
  decodeTxn,
  decodeTxnWithin,
  emptyOp,
  etcdserverpb,
  type Init,
  WireError,
} from '@engram/wire';

/* Compares the fast decoders with the generated ones, which are tested against protobufjs. */

const bytes = fc.uint8Array({ maxLength: 12 });
const int64 = fc.oneof(fc.maxSafeInteger(), fc.integer({ min: -3, max: 200 }));
const lease = fc.oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.constant(0n));
const optional = { requiredKeys: [] };

const range = fc.record(
  {
    key: bytes,
    rangeEnd: bytes,
    limit: int64,
    revision: int64,
    sortOrder: fc.integer({ min: -1, max: 5 }),
    sortTarget: fc.integer({ min: -1, max: 99 }),
    serializable: fc.boolean(),
    keysOnly: fc.boolean(),
    countOnly: fc.boolean(),
    minModRevision: int64,
    maxModRevision: int64,
    minCreateRevision: int64,
    maxCreateRevision: int64,
  },
  optional,
);
const put = fc.record(
  { key: bytes, value: bytes, lease, prevKv: fc.boolean(), ignoreValue: fc.boolean(), ignoreLease: fc.boolean() },
  optional,
);
const deleteRange = fc.record({ key: bytes, rangeEnd: bytes, prevKv: fc.boolean() }, optional);
const compare = fc
  .tuple(
    fc.record({ result: fc.nat(5), target: fc.integer({ min: -1, max: 6 }), key: bytes, rangeEnd: bytes }, optional),
    fc.oneof(
      fc.record({ version: int64 }),
      fc.record({ createRevision: int64 }),
      fc.record({ modRevision: int64 }),
      fc.record({ value: bytes }),
      fc.record({ lease }),
      fc.constant({}),
    ),
  )
  .map(([head, union]) => ({ ...head, ...union }));
const { txn } = fc.letrec<{ txn: Init<etcdserverpb.TxnRequest>; op: Init<etcdserverpb.RequestOp> }>((tie) => ({
  op: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constant({}),
    fc.record({ requestRange: range }),
    fc.record({ requestPut: put }),
    fc.record({ requestDeleteRange: deleteRange }),
    fc.record({ requestTxn: tie('txn') }),
  ),
  txn: fc.record(
    {
      compare: fc.array(compare, { maxLength: 3 }),
      success: fc.array(tie('op'), { maxLength: 3 }),
      failure: fc.array(tie('op'), { maxLength: 3 }),
    },
    optional,
  ),
}));

function slowRange(request: etcdserverpb.RangeRequest): Op {
  const { key, rangeEnd, ...rest } = request;
  return { kind: 'range', range: { key, end: rangeEnd }, ...rest };
}

const slowPut = (request: etcdserverpb.PutRequest): Op => ({
  kind: 'put',
  ...request,
  lease: leaseId(request.lease),
});

const slowDelete = ({ key, rangeEnd, prevKv }: etcdserverpb.DeleteRangeRequest): Op => ({
  kind: 'delete-range',
  range: { key, end: rangeEnd },
  prevKv,
});

function slowCompare(request: etcdserverpb.Compare): Compare {
  const number = {
    [CompareTarget.VERSION]: request.version,
    [CompareTarget.CREATE]: request.createRevision,
    [CompareTarget.MOD]: request.modRevision,
  }[request.target];
  return {
    range: { key: request.key, end: request.rangeEnd },
    result: request.result,
    target: request.target,
    number: number ?? 0,
    lease: leaseId(request.target === CompareTarget.LEASE ? (request.lease ?? 0n) : 0n),
    value: (request.target === CompareTarget.VALUE ? request.value : undefined) ?? new Uint8Array(0),
  };
}

function slowOp(op: etcdserverpb.RequestOp): Op {
  if (op.requestRange !== undefined) return slowRange(op.requestRange);
  if (op.requestPut !== undefined) return slowPut(op.requestPut);
  if (op.requestDeleteRange !== undefined) return slowDelete(op.requestDeleteRange);
  return op.requestTxn === undefined ? emptyOp : { kind: 'txn', txn: slowTxn(op.requestTxn) };
}

const slowTxn = (request: etcdserverpb.TxnRequest): Txn => ({
  compares: request.compare.map(slowCompare),
  success: request.success.map(slowOp),
  failure: request.failure.map(slowOp),
});

/** Two encodings in sequence are the merged message, which must be read as the generated codec reads it. */
const twice = (encoded: Uint8Array, second: Uint8Array): Uint8Array => new Uint8Array(Buffer.concat([encoded, second]));

describe('the fast decoders read what the generated ones read', () => {
  test('Range', () => {
    fc.assert(
      fc.property(range, range, (first, second) => {
        const sent = twice(etcdserverpb.encodeRangeRequest(first), etcdserverpb.encodeRangeRequest(second));
        expect(decodeRange(sent)).toEqual(slowRange(etcdserverpb.decodeRangeRequest(sent)));
      }),
    );
  });

  test('Put', () => {
    fc.assert(
      fc.property(put, put, (first, second) => {
        const sent = twice(etcdserverpb.encodePutRequest(first), etcdserverpb.encodePutRequest(second));
        expect(decodePut(sent)).toEqual(slowPut(etcdserverpb.decodePutRequest(sent)));
      }),
    );
  });

  test('DeleteRange', () => {
    fc.assert(
      fc.property(deleteRange, (request) => {
        const sent = etcdserverpb.encodeDeleteRangeRequest(request);
        expect(decodeDeleteRange(sent)).toEqual(slowDelete(etcdserverpb.decodeDeleteRangeRequest(sent)));
      }),
    );
  });

  test('Txn', () => {
    fc.assert(
      fc.property(txn, txn, (first, second) => {
        const sent = twice(etcdserverpb.encodeTxnRequest(first), etcdserverpb.encodeTxnRequest(second));
        expect(decodeTxn(sent)).toEqual(slowTxn(etcdserverpb.decodeTxnRequest(sent)));
      }),
    );
  });

  test('an operation whose oneof comes twice', () => {
    const op = fc.oneof(
      fc.record({ requestRange: range }),
      fc.record({ requestPut: put }),
      fc.record({ requestDeleteRange: deleteRange }),
      fc.record({ requestTxn: txn }),
    );
    fc.assert(
      fc.property(op, op, (first, second) => {
        const merged = twice(etcdserverpb.encodeRequestOp(first), etcdserverpb.encodeRequestOp(second));
        const sent = new Uint8Array(Buffer.concat([Uint8Array.of(0x12), varint(merged.length), merged]));
        expect(decodeTxn(sent)).toEqual(slowTxn(etcdserverpb.decodeTxnRequest(sent)));
      }),
    );
  });
});

function varint(value: number): Uint8Array {
  return value < 0x80 ? Uint8Array.of(value) : Uint8Array.of((value & 0x7f) | 0x80, ...varint(value >>> 7));
}

test('damaged transactions give a transaction or a WireError', () => {
  const change = fc.tuple(fc.nat(), fc.nat(255));
  fc.assert(
    fc.property(txn, fc.array(change, { maxLength: 3 }), fc.nat(), (request, changes, cut) => {
      const sent = etcdserverpb.encodeTxnRequest(request);
      for (const [at, byte] of changes) if (sent.length > 0) sent[at % sent.length] = byte;
      for (const damaged of [sent, sent.subarray(0, cut % (sent.length + 1))]) {
        try {
          decodeTxn(damaged);
        } catch (error) {
          expect(error).toBeInstanceOf(WireError);
        }
      }
    }),
    { numRuns: 500 },
  );
});

test('an operation of no kind is the one that validation looks for', () => {
  const sent = etcdserverpb.encodeTxnRequest({ failure: [{}] });
  expect(decodeTxn(sent).failure[0]).toBe(emptyOp);
});

describe('what a transaction may be at most', () => {
  const OPS = 128;
  const field = (tag: number, content: Uint8Array): Buffer =>
    Buffer.concat([Uint8Array.of(tag), varint(content.length), content]);
  const many = (count: number, bytes: Uint8Array): Buffer => Buffer.concat(Array.from({ length: count }, () => bytes));
  const putOp = field(0x12, field(0x12, etcdserverpb.encodePutRequest({ key: Uint8Array.of(1) })));

  test.each([
    { list: 'compares', tag: 0x0a },
    { list: 'success', tag: 0x12 },
    { list: 'failure', tag: 0x1a },
  ] as const)('$list that are too long give no transaction, but a beginning that shows it', ({ list, tag }) => {
    const entry = field(tag, new Uint8Array(0));
    const within = decodeTxnWithin(many(OPS, entry), OPS);
    expect(within).toEqual(decodeTxn(many(OPS, entry)));
    for (const count of [OPS + 1, OPS + 2, 100_000]) {
      const beyond = decodeTxnWithin(many(count, entry), OPS);
      if (count === OPS + 1) expect(beyond, 'nothing is missing').toMatchObject({ [list]: { length: count } });
      else expect(beyond).toMatchObject({ beginning: { [list]: { length: OPS + 1 } } });
      expect(beyond instanceof CutTxn).toBe(count > OPS + 1);
    }
    const nested = field(0x12, field(0x22, many(OPS + 2, entry)));
    expect(decodeTxnWithin(nested, OPS)).toBeInstanceOf(CutTxn);
  });

  test('nothing is read behind a list that is too long, but what is around it', () => {
    const entry = field(0x12, new Uint8Array(0));
    const rest = Uint8Array.of(0xff);
    const nested = field(0x12, field(0x22, Buffer.concat([many(OPS + 2, entry), rest])));
    const sent = Buffer.concat([nested, field(0x0a, new Uint8Array(0))]);
    expect(decodeTxnWithin(sent, OPS)).toMatchObject({
      beginning: { success: { length: 1 }, compares: { length: 1 } },
    });
    expect(() => decodeTxnWithin(Buffer.concat([sent, rest]), OPS)).toThrow(WireError);
    expect(() => decodeTxn(sent)).toThrow(WireError);
  });

  test('without a bound, all of it is read', () => {
    const sent = Buffer.concat([0x0a, 0x12, 0x1a].map((tag) => many(5000, field(tag, new Uint8Array(0)))));
    const txn = decodeTxn(Buffer.concat([sent, field(0x12, field(0x22, sent))]));
    expect(txn).toMatchObject({ compares: { length: 5000 }, success: { length: 5001 }, failure: { length: 5000 } });
    expect(txn.success.at(-1)).toMatchObject({ txn: { compares: { length: 5000 }, success: { length: 5000 } } });
  });

  test('the three lists full, with full ones within, are read', () => {
    const full = Buffer.concat([0x0a, 0x12, 0x1a].map((tag) => many(OPS, field(tag, new Uint8Array(0)))));
    const sent = Buffer.concat([full, field(0x12, field(0x22, full))]);
    const txn = decodeTxn(sent);
    expect(decodeTxnWithin(sent, OPS)).toEqual(txn);
    expect(txn.compares.length + txn.success.length + txn.failure.length).toBe(3 * OPS + 1);
    expect(txn.success.at(-1)).toMatchObject({ kind: 'txn', txn: { failure: { length: OPS } } });
  });

  test('a whole tree has a bound of its own, however it is nested', () => {
    // Each list is short. Together the lists have 64 x 128 operations, and in the second case more.
    const nested = field(0x12, field(0x22, many(63, putOp)));
    const both = many(64, nested);
    const tree = Buffer.concat([both, many(64, Buffer.concat([Uint8Array.of(0x1a), nested.subarray(1)]))]);
    expect(decodeTxnWithin(tree, OPS)).toEqual(decodeTxn(tree));
    const beyond = Buffer.concat([tree, field(0x0a, new Uint8Array(0))]);
    expect(() => decodeTxnWithin(beyond, OPS)).toThrow('etcdserver: too many operations in txn request');
    expect(decodeTxn(beyond).compares).toHaveLength(1);
  });

  test.each([0x0a, 0x12, 0x1a, 0x22])('fields %i that are merged into one operation count as well', (tag) => {
    const merged = (count: number): Buffer => field(0x12, many(count, field(tag, new Uint8Array(0))));
    expect(decodeTxnWithin(merged(64 * OPS), OPS)).toEqual(decodeTxn(merged(1)));
    expect(() => decodeTxnWithin(merged(64 * OPS + 1), OPS)).toThrow('etcdserver: too many operations in txn request');
    expect(decodeTxn(merged(100_000)).success).toHaveLength(1);
  });

  test.each([
    { what: 'with an operation each', request: field(0x22, putOp) },
    { what: 'with a compare each', request: field(0x22, field(0x0a, new Uint8Array(0))) },
    { what: 'empty', request: field(0x22, new Uint8Array(0)) },
  ])('a request_txn that comes again and again, $what, costs by its bytes', ({ request }) => {
    // A decoder that copies the previous lists for each request would take half a minute; reading takes some
    // milliseconds.
    const op = many(Math.floor(320_000 / request.length), request);
    const start = process.cpuUsage();
    const txn = decodeTxn(field(0x12, op));
    const { user, system } = process.cpuUsage(start);
    expect((user + system) / 1000).toBeLessThan(1_000);
    expect(txn.success).toHaveLength(1);
  });
});
