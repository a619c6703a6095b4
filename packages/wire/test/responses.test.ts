import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  ByteViews,
  EVENT_DELETE,
  EVENT_PUT,
  logPosition,
  NO_LEASE,
  type PagedBytes,
  revision,
  type KvEvent,
} from '@engram/core';
import {
  dropMessage,
  encodeAnswer,
  encodeEvents,
  encodeRangeChunk,
  encodeWatchFragments,
  encodeWatchResponse,
  etcdserverpb,
  gatherMessage,
  HeaderEncoder,
  isLong,
  joinMessage,
  mvccpb,
  type Answer,
  type Init,
  type Message,
} from '@engram/wire';

/* Compares assembled answers with the generated codecs. */

const identity = { clusterId: 2n ** 63n + 5n, memberId: 7n, raftTerm: 3 };
const fullHeader = (at: number): Init<etcdserverpb.ResponseHeader> => ({
  clusterId: identity.clusterId,
  memberId: identity.memberId,
  revision: at,
  raftTerm: identity.raftTerm,
});
const headerBytes = (at: number): Uint8Array => new HeaderEncoder(identity).encode(at);

/** Small and large values. Large ones become pieces of their own. */
const kv = fc
  .record({
    key: fc.uint8Array({ minLength: 1, maxLength: 20 }),
    createRevision: fc.nat(),
    modRevision: fc.nat(),
    version: fc.nat(300),
    value: fc.oneof(
      { weight: 5, arbitrary: fc.uint8Array({ maxLength: 200 }) },
      { weight: 1, arbitrary: fc.nat(255).map((byte) => new Uint8Array(9_000).fill(byte)) },
    ),
    lease: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  })
  .map((fields) => mvccpb.encodeKeyValue(fields));
const at = fc.oneof(fc.nat(), fc.maxSafeNat());

const range = fc.record({
  kind: fc.constant('range' as const),
  revision: at,
  kvs: fc.array(kv, { maxLength: 5 }),
  more: fc.boolean(),
  count: fc.nat(1_000),
});
const { answer } = fc.letrec<{ answer: Answer }>((tie) => ({
  answer: fc.oneof(
    { depthSize: 'small' },
    range,
    fc.record({ kind: fc.constant('put' as const), revision: at, prevKv: fc.option(kv, { nil: undefined }) }),
    fc.record({
      kind: fc.constant('delete-range' as const),
      revision: at,
      deleted: fc.nat(1_000),
      prevKvs: fc.array(kv, { maxLength: 3 }),
    }),
    fc.record({
      kind: fc.constant('txn' as const),
      revision: at,
      succeeded: fc.boolean(),
      responses: fc.array(tie('answer'), { maxLength: 4 }),
    }),
  ),
}));

const decoded = (bytes: Uint8Array): mvccpb.KeyValue => mvccpb.decodeKeyValue(bytes);

/** The generated codec's encoding of the same answer. */
function slow(header: Init<etcdserverpb.ResponseHeader>, value: Answer): Uint8Array {
  switch (value.kind) {
    case 'range':
      return etcdserverpb.encodeRangeResponse({ header, ...slowRange(value) });
    case 'put':
      return etcdserverpb.encodePutResponse({ header, prevKv: value.prevKv && decoded(value.prevKv) });
    case 'delete-range':
      return etcdserverpb.encodeDeleteRangeResponse({
        header,
        deleted: value.deleted,
        prevKvs: [...value.prevKvs].map(decoded),
      });
    case 'txn':
      return etcdserverpb.encodeTxnResponse({
        header,
        succeeded: value.succeeded,
        responses: value.responses.map(slowOp),
      });
  }
}

const slowRange = ({ kvs, more, count }: Extract<Answer, { kind: 'range' }>): Init<etcdserverpb.RangeResponse> => ({
  kvs: [...kvs].map(decoded),
  more,
  count,
});

function slowOp(value: Answer): Init<etcdserverpb.ResponseOp> {
  const header = { revision: value.kind === 'txn' ? 0 : value.revision };
  switch (value.kind) {
    case 'range':
      return { responseRange: etcdserverpb.decodeRangeResponse(slow(header, value)) };
    case 'put':
      return { responsePut: etcdserverpb.decodePutResponse(slow(header, value)) };
    case 'delete-range':
      return { responseDeleteRange: etcdserverpb.decodeDeleteRangeResponse(slow(header, value)) };
    case 'txn':
      return { responseTxn: etcdserverpb.decodeTxnResponse(slow(header, value)) };
  }
}

const whole = (message: Message): Uint8Array => new Uint8Array(joinMessage(message));

test('an answer has the bytes of the generated codec', () => {
  fc.assert(
    fc.property(answer, (value) => {
      expect(whole(encodeAnswer(headerBytes(value.revision), value))).toEqual(slow(fullHeader(value.revision), value));
    }),
    { numRuns: 300 },
  );
});

test('the answer of one version has the same bytes in whatever parts it leaves', () => {
  const windows = fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1 });
  const shortKv = kv.filter(({ length }) => length < 4096);
  fc.assert(
    fc.property(fc.tuple(shortKv, at, windows, fc.boolean()), ([one, revision, sizes, views]) => {
      const value = { kind: 'range' as const, revision, kvs: [one], more: false, count: 1 };
      const header = headerBytes(revision);
      const message = encodeAnswer(header, views ? { ...value, kvs: ByteViews.of([one]) } : value);
      if (!isLong(message)) throw new Error('the answer of one version is put together');
      expect(message.prepare(message.bytes)).toBeUndefined();
      const bytes = new Uint8Array(message.bytes);
      for (let from = 0, turn = 0; from < bytes.length; turn += 1) {
        const end = Math.min(bytes.length, from + sizes[turn % sizes.length]!);
        expect(message.read(bytes, from, end)).toBe(end);
        from = end;
      }
      expect(message.read(bytes, 0, 10)).toBe(0);
      expect(bytes).toEqual(slow(fullHeader(revision), value));
    }),
  );
});

test('the answer of one version that waits keeps neither the version nor the header that it was made of', () => {
  const [header, one] = [Uint8Array.from(headerBytes(4)), mvccpb.encodeKeyValue({ key: Uint8Array.of(1), version: 2 })];
  const value = { kind: 'range' as const, revision: 4, kvs: [one.slice()], more: false, count: 1 };
  const message = encodeAnswer(header, { ...value, kvs: [one] });
  if (!isLong(message)) throw new Error('the answer of one version is put together');
  message.stays?.();
  header.fill(0);
  one.fill(0);
  expect(whole(message)).toEqual(slow(fullHeader(4), value));
});

test('large values are not copied', () => {
  const large = mvccpb.encodeKeyValue({ key: Uint8Array.of(1), value: new Uint8Array(100_000) });
  const message = encodeAnswer(headerBytes(4), { kind: 'range', revision: 4, kvs: [large], more: false, count: 1 });
  expect(message).toContain(large);
});

test('a long list is made while it leaves, into windows of any size, and has the same bytes', () => {
  const value = range.chain((one) =>
    fc.tuple(
      fc.constant(one),
      fc.array(kv, { minLength: 1, maxLength: 8 }),
      fc.array(fc.integer({ min: 1, max: 9_000 }), { minLength: 1 }),
    ),
  );
  fc.assert(
    fc.property(value, ([one, some, windows]) => {
      // Repeated until the answer is long, because generating as many versions would take longer than the test.
      const kvs: Uint8Array[] = [];
      for (let bytes = 0; bytes <= 64 * 1024; ) {
        for (const each of some) {
          kvs.push(each);
          bytes += each.length;
        }
      }
      const long = { ...one, kvs };
      const message = encodeAnswer(headerBytes(one.revision), long);
      if (!isLong(message)) throw new Error('a list of 64 KiB is not long');
      const bytes = new Uint8Array(message.bytes);
      let at = 0;
      for (let turn = 0; at < bytes.length; turn += 1) {
        const end = Math.min(bytes.length, at + windows[turn % windows.length]!);
        expect(message.read(bytes, at, end)).toBe(end);
        at = end;
      }
      expect(message.read(bytes, 0, 10)).toBe(0);
      const expected = slow(fullHeader(one.revision), long);
      expect(Buffer.compare(bytes, expected)).toBe(0);
      expect(Buffer.compare(whole(encodeAnswer(headerBytes(one.revision), long)), expected)).toBe(0);
    }),
  );
});

test('a long answer of a transaction or a delete is made while it leaves, and has the same bytes', () => {
  const repeated = (kvs: readonly Uint8Array[]): Uint8Array[] => {
    const bytes = kvs.reduce((sum, { length }) => sum + length, 0);
    return Array.from({ length: Math.ceil((64 * 1024) / bytes) }, () => kvs).flat();
  };
  const value = fc.tuple(
    fc.record({
      kind: fc.constant('txn' as const),
      revision: at,
      succeeded: fc.boolean(),
      responses: fc.array(answer, { minLength: 1, maxLength: 6 }),
    }),
    fc.array(kv, { minLength: 1, maxLength: 3 }),
    fc.array(fc.integer({ min: 1, max: 9_000 }), { minLength: 1 }),
    fc.boolean(),
  );
  fc.assert(
    fc.property(value, ([txn, some, windows, views]) => {
      const kvs = repeated(some);
      const list = {
        kind: 'range' as const,
        revision: 7,
        more: true,
        count: 9_000,
        kvs: views ? ByteViews.of(kvs) : kvs,
      };
      const deleted = { kind: 'delete-range' as const, revision: 8, deleted: 3, prevKvs: kvs };
      const nested = { kind: 'txn' as const, revision: 9, succeeded: true, responses: [list, deleted] };
      const slowNested = { ...nested, responses: [{ ...list, kvs }, deleted] };
      const long: Answer = { ...txn, responses: [...txn.responses, nested, list] };
      const message = encodeAnswer(headerBytes(txn.revision), long);
      if (!isLong(message)) throw new Error('a long transaction is put together');
      const bytes = new Uint8Array(message.bytes);
      for (let from = 0, turn = 0; from < bytes.length; turn += 1) {
        const end = Math.min(bytes.length, from + windows[turn % windows.length]!);
        expect(message.read(bytes, from, end)).toBe(end);
        from = end;
      }
      const expected = slow(fullHeader(txn.revision), {
        ...txn,
        responses: [...txn.responses, slowNested, { ...list, kvs }],
      });
      expect(Buffer.compare(bytes, expected)).toBe(0);
    }),
    { numRuns: 40 },
  );
});

/** Only brought stretches can be read. `bring` returns no promise for even numbers of bytes, and if all are there. */
class TestPages implements PagedBytes {
  readonly #kvs: readonly Uint8Array[];
  readonly #pageKvs: number;
  readonly bytes: number;
  readonly heldBytes = 0;
  disposed = false;
  #from = 0;
  #end = 0;

  constructor(kvs: readonly Uint8Array[], pageKvs: number) {
    this.#kvs = kvs;
    this.#pageKvs = pageKvs;
    this.bytes = kvs.reduce((sum, { length }) => sum + length, 0);
  }
  get length(): number {
    return this.#kvs.length;
  }
  lengthOf(index: number): number {
    return this.#kvs[index]!.length;
  }
  broughtBytes = 0;
  bring(from: number, bytes: number): Promise<void> | undefined {
    this.#from = from;
    const before = this.#end;
    for (let page = 0; this.#end < this.length && (this.broughtBytes < bytes || page < this.#pageKvs); page += 1) {
      this.broughtBytes += this.lengthOf(this.#end);
      this.#end += 1;
    }
    return bytes % 2 === 0 || this.#end === before ? undefined : Promise.resolve();
  }
  view(index: number): Uint8Array {
    if (this.disposed || index < this.#from || index >= this.#end) throw new Error(`${index} is not there`);
    return this.#kvs[index]!;
  }
  [Symbol.dispose](): void {
    this.disposed = true;
  }
}

test('a list that comes in pages has the same bytes, whatever the windows, and is disposed of by its reader', async () => {
  const value = fc.tuple(
    range.map((one) => ({ ...one, kvs: [...one.kvs, ...one.kvs, ...one.kvs, ...one.kvs] })),
    fc.array(fc.integer({ min: 1, max: 9_000 }), { minLength: 1 }),
    fc.integer({ min: 1, max: 4 }),
  );
  await fc.assert(
    fc.asyncProperty(value, async ([one, windows, pageKvs]) => {
      const pages = new TestPages(one.kvs, pageKvs);
      const message = encodeAnswer(headerBytes(one.revision), { ...one, kind: 'paged-range', kvs: pages });
      if (!isLong(message)) throw new Error('pages are put together');
      const bytes = new Uint8Array(message.bytes);
      for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
        const end = Math.min(bytes.length, at + windows[turn % windows.length]!);
        await message.prepare(end - at);
        expect(message.read(bytes, at, end)).toBe(end);
        at = end;
      }
      expect(Buffer.compare(bytes, slow(fullHeader(one.revision), one))).toBe(0);
      dropMessage(message);
      expect(pages.disposed).toBe(true);
    }),
  );
});

test('a list in pages is disposed of when it is put together, also an empty one', async () => {
  for (const kvs of [[], [new Uint8Array([1])]]) {
    const answer = { kind: 'paged-range', revision: revision(9), more: false, count: kvs.length } as const;
    for (const puts of [joinMessage, gatherMessage]) {
      const pages = new TestPages(kvs, 1);
      const message = encodeAnswer(headerBytes(9), { ...answer, kvs: pages });
      if (!isLong(message)) throw new Error('pages are put together');
      await message.prepare(message.bytes);
      await puts(message);
      expect(pages.disposed).toBe(true);
    }
  }
});

test('a chunk of a streamed range has a header only where one is given', () => {
  fc.assert(
    fc.property(range, fc.boolean(), (value, last) => {
      const header = last ? fullHeader(value.revision) : undefined;
      const expected = etcdserverpb.encodeRangeStreamResponse({ rangeResponse: { header, ...slowRange(value) } });
      expect(whole(encodeRangeChunk(last ? headerBytes(value.revision) : undefined, value))).toEqual(expected);
    }),
  );
});

test('headers are those of the generated codec, and kept for as long as the revision stays', () => {
  fc.assert(
    fc.property(at, fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.nat(), (value, id, raftTerm) => {
      const who = { clusterId: id, memberId: id ^ 5n, raftTerm };
      const encoder = new HeaderEncoder(who);
      expect(encoder.encode(value)).toEqual(etcdserverpb.encodeResponseHeader({ ...who, revision: value }));
      expect(encoder.encode(value)).toBe(encoder.encode(value));
    }),
  );
});

const eventOf = (isDelete: boolean, bytes: Uint8Array, prevKv: Uint8Array | undefined): KvEvent => ({
  type: isDelete ? EVENT_DELETE : EVENT_PUT,
  key: decoded(bytes).key,
  modRevision: revision(decoded(bytes).modRevision),
  sub: 0,
  createRevision: revision(0),
  version: 0,
  lease: NO_LEASE,
  kv: bytes,
  position: logPosition(1),
  prevPosition: undefined,
  prevModRevision: revision(0),
  prevLease: NO_LEASE,
  prevKv,
});
const event = fc.tuple(fc.boolean(), kv, fc.option(kv, { nil: undefined })).map((parts) => eventOf(...parts));
const head = fc.record(
  {
    header: at.map(headerBytes),
    watchId: fc.oneof(fc.nat(300), fc.constant(-1), fc.maxSafeInteger(), fc.constantFrom(2n ** 53n + 1n, -(2n ** 63n))),
    created: fc.boolean(),
    canceled: fc.boolean(),
    compactRevision: fc.nat(),
    cancelReason: fc.string({ unit: 'binary' }),
    fragment: fc.boolean(),
  },
  { requiredKeys: ['header', 'watchId'] },
);

const slowEvents = (events: readonly KvEvent[], withPrevKv: boolean): Init<mvccpb.Event>[] =>
  events.map(({ type, kv: bytes, prevKv }) => ({
    type,
    kv: decoded(bytes),
    prevKv: withPrevKv && prevKv !== undefined ? decoded(prevKv) : undefined,
  }));

test('a watch response has the bytes of the generated codec', () => {
  fc.assert(
    fc.property(
      head,
      fc.array(fc.array(event, { maxLength: 3 }), { maxLength: 3 }),
      fc.boolean(),
      (top, groups, prev) => {
        const encoded = groups.map((events) => encodeEvents(events, prev));
        const expected = etcdserverpb.encodeWatchResponse({
          ...top,
          header: etcdserverpb.decodeResponseHeader(top.header),
          events: slowEvents(groups.flat(), prev),
        });
        expect(whole(encodeWatchResponse(top, encoded))).toEqual(expected);
      },
    ),
  );
});

test('fragments together are the response, and each is below the bound or has one event', () => {
  fc.assert(
    fc.property(
      fc.array(event, { minLength: 1, maxLength: 8 }),
      fc.integer({ min: 50, max: 12_000 }),
      (events, bound) => {
        const top = { header: headerBytes(9), watchId: 3 };
        const parts = encodeWatchFragments(top, events, true, bound).map((part) => {
          const bytes = whole(part);
          const response = etcdserverpb.decodeWatchResponse(bytes);
          expect(bytes.length < bound || response.events.length === 1).toBe(true);
          return response;
        });
        expect(parts.map((part) => part.fragment)).toEqual(parts.map((_, index) => index < parts.length - 1));
        const all = etcdserverpb.decodeWatchResponse(whole(encodeWatchResponse(top, [encodeEvents(events, true)])));
        expect(parts.flatMap((part) => part.events)).toEqual(all.events);
      },
    ),
  );
});

test('a response just below the bound stays whole', () => {
  const big = mvccpb.encodeKeyValue({ key: Uint8Array.of(1), value: new Uint8Array(100) });
  const events = [eventOf(false, big, undefined), eventOf(false, big, undefined)];
  const top = { header: headerBytes(9), watchId: 3 };
  const size = whole(encodeWatchResponse(top, [encodeEvents(events, false)])).length;
  expect(encodeWatchFragments(top, events, false, size + 1)).toHaveLength(1);
  expect(encodeWatchFragments(top, events, false, size)).toHaveLength(2);
});
