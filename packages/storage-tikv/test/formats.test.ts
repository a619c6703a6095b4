import { epoch, logPosition } from '@engram/core';
import { finish, type PureJob, StepPace, type Turn, unhurried } from '@engram/loop';
import type { LogBatch } from '@engram/storage';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type BatchPlace,
  chainBehind,
  decodeBatch,
  decodePart,
  type EncodedBatch,
  encodingBatch,
  NewerFormat,
} from '../src/format/batch-format.ts';
import { type Chain, emptyChain } from '../src/format/chain.ts';
import { decodeSeal, encodeSeal } from '../src/format/seal-record.ts';
import { crcOf } from '../src/format/value-crc.ts';

const encodeBatch = (batch: LogBatch, place: BatchPlace, partBytesMax: number): EncodedBatch =>
  finish(encodingBatch(batch, place, partBytesMax, unhurried));

const behindOf = (previous: Chain, batch: LogBatch): Chain => finish(chainBehind(previous, batch, unhurried));

const records = fc.array(fc.uint8Array({ maxLength: 300 }), { minLength: 1, maxLength: 20 });
const first = fc.integer({ min: 1, max: 2 ** 52 }).map(logPosition);
const seal = fc.record({ epoch: fc.nat().map(epoch), holder: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }) });
const chain = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(emptyChain);

const place = fc.record({
  segment: fc.integer({ min: 1, max: 2 ** 52 }),
  seal,
  logBytesBefore: fc.integer({ min: 0, max: 2 ** 52 }),
  previous: chain,
  wallMs: fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
});

describe('a batch', () => {
  test('comes back from its values, however many they are', () => {
    fc.assert(
      fc.property(
        first,
        records,
        place,
        fc.integer({ min: 105, max: 2000 }),
        (position, bytes, where, partBytesMax) => {
          const batch = { first: position, records: bytes };
          const { values, chain: behind, logBytes } = encodeBatch(batch, where, partBytesMax);
          const parts = values.map((value) => decodePart(value)!);
          for (const [index, { header }] of parts.entries()) {
            expect(values[index]!.length).toBeLessThanOrEqual(
              Math.max(partBytesMax, values.length === 1 ? Infinity : 0),
            );
            const { segment, seal: by, previous, wallMs } = where;
            const same = {
              parts: values.length,
              segment,
              seal: by,
              first: position,
              count: bytes.length,
              logBytes,
              previous,
              wallMs,
            };
            expect(header).toEqual({ ...same, part: index, chain: behind });
          }
          const seen = decodeBatch(parts, true);
          expect(seen?.records.map((record) => Buffer.from(record))).toEqual(
            bytes.map((record) => Buffer.from(record)),
          );
          expect(behindOf(where.previous, batch)).toBe(behind);
        },
      ),
    );
  });

  test('of very many records is encoded and hashed in slices, other ones meanwhile, as it is in one go', () => {
    const where = {
      segment: 2,
      seal: { epoch: epoch(3), holder: 4n },
      logBytesBefore: 5,
      previous: emptyChain(6n),
      wallMs: 7,
    };
    const batchOf = (count: number, salt: number) => ({
      first: logPosition(salt),
      records: Array.from({ length: count }, (_, at) => Buffer.from(`${salt}-${at}`)),
    });
    const [long, usual] = [batchOf(20_000, 1), batchOf(3000, 2)];
    const due = encodeBatch(long, where, 50_000);
    expect(due.values.length).toBeGreaterThan(3);
    const slices = <Result>(work: (turn: Turn) => PureJob<Result>): { result: Result; count: number } => {
      const pace = new StepPace(500);
      const running = work(pace);
      for (let count = 1; ; count += 1) {
        pace.begin();
        const step = running.next();
        if (step.done === true) return { result: step.value, count };
        behindOf(where.previous, usual);
      }
    };
    const encoded = slices((turn) => encodingBatch(long, where, 50_000, turn));
    expect(encoded.count).toBeGreaterThan(20);
    expect(encoded.result).toEqual(due);
    const chained = slices((turn) => chainBehind(where.previous, long, turn));
    expect(chained.count).toBeGreaterThan(20);
    expect(chained.result).toBe(due.chain);
    expect(slices((turn) => chainBehind(where.previous, usual, turn)).count, 'in a shared buffer').toBe(1);
  });

  test('that is changed anywhere is none', () => {
    const batch = { first: logPosition(5), records: [Uint8Array.of(1, 2, 3), new Uint8Array(0), Uint8Array.of(4)] };
    const where = {
      segment: 2,
      seal: { epoch: epoch(3), holder: 4n },
      logBytesBefore: 9,
      previous: emptyChain(1n),
      wallMs: 7,
    };
    const [value] = encodeBatch(batch, where, 1000).values;
    for (let at = 0; at < value!.length; at += 1) {
      const changed = value!.slice();
      changed[at]! ^= 1;
      expect(decodePart(changed), `byte ${at}`).toBeUndefined();
      expect(decodePart(value!.subarray(0, at)), `${at} bytes`).toBeUndefined();
    }
  });

  test('whose chain is not that of its bytes is none, and its parts must be its own', () => {
    const where = {
      segment: 2,
      seal: { epoch: epoch(3), holder: 4n },
      logBytesBefore: 0,
      previous: emptyChain(1n),
      wallMs: 7,
    };
    const one = encodeBatch({ first: logPosition(5), records: [new Uint8Array(150), new Uint8Array(150)] }, where, 300);
    const two = encodeBatch(
      { first: logPosition(5), records: [new Uint8Array(150).fill(1), new Uint8Array(150)] },
      where,
      300,
    );
    const mixed = [decodePart(one.values[0]!)!, decodePart(two.values[1]!)!];
    expect(decodeBatch(mixed, false)).toBeDefined();
    expect(decodeBatch([decodePart(two.values[0]!)!, decodePart(one.values[1]!)!], true)).toBeDefined();
    const exchanged = [{ ...decodePart(one.values[0]!)!, payload: decodePart(two.values[0]!)!.payload }, mixed[1]!];
    expect(decodeBatch(exchanged, true)).toBeUndefined();
  });
});

test('the chain depends on everything before it, and on nothing else', () => {
  const start = emptyChain(1n);
  const a = { first: logPosition(1), records: [Uint8Array.of(1), Uint8Array.of(2)] };
  const b = { first: logPosition(3), records: [Uint8Array.of(3)] };
  const chains = [
    behindOf(behindOf(start, a), b),
    behindOf(behindOf(emptyChain(2n), a), b),
    behindOf(behindOf(start, { ...a, records: [Uint8Array.of(1), Uint8Array.of(9)] }), b),
    behindOf(behindOf(start, { ...a, records: [Uint8Array.of(1, 2), new Uint8Array(0)] }), b),
    behindOf(behindOf(start, a), { ...b, first: logPosition(4) }),
    behindOf(start, b),
  ];
  expect(new Set(chains).size).toBe(chains.length);
  expect(behindOf(behindOf(start, a), b)).toBe(chains[0]);
});

describe('a seal', () => {
  const mark = fc.record({
    next: first,
    logBytes: fc.integer({ min: 0, max: 2 ** 52 }),
    chain,
  });
  const owner = fc.record({
    seal,
    opener: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
    begin: fc.option(mark, { nil: undefined }),
    birth: fc.option(fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }), { nil: undefined }),
  });

  test('comes back, and one that is changed anywhere is none', () => {
    fc.assert(
      fc.property(owner, fc.nat(), (whose, place) => {
        const bytes = encodeSeal(whose);
        expect(decodeSeal(bytes)).toEqual(whose);
        bytes[place % bytes.length]! ^= 4;
        expect(decodeSeal(bytes)).toBeUndefined();
      }),
    );
  });

  test('of a program without births is read', () => {
    fc.assert(
      fc.property(owner, (whose) => {
        const bytes = encodeSeal(whose).slice(0, 68);
        const view = new DataView(bytes.buffer);
        view.setUint16(6, 68, true);
        view.setUint32(8, crcOf(bytes), true);
        expect(decodeSeal(bytes)).toEqual({ ...whose, birth: undefined });
      }),
    );
  });

  test('of a later version is told from damage', () => {
    const bytes = encodeSeal({ seal: { epoch: epoch(1), holder: 1n }, opener: 1n, begin: undefined, birth: 5n });
    const view = new DataView(bytes.buffer);
    view.setUint16(4, 2, true);
    view.setUint32(8, crcOf(bytes), true);
    expect(() => decodeSeal(bytes)).toThrow(NewerFormat);
  });
});

test('a batch of a later version is told from damage', () => {
  const where = {
    segment: 2,
    seal: { epoch: epoch(3), holder: 4n },
    logBytesBefore: 0,
    previous: emptyChain(1n),
    wallMs: 7,
  };
  const [value] = encodeBatch({ first: logPosition(5), records: [new Uint8Array(9)] }, where, 1000).values;
  const view = new DataView(value!.buffer, value!.byteOffset, value!.byteLength);
  view.setUint16(4, 2, true);
  view.setUint32(8, crcOf(value!), true);
  expect(() => decodePart(value!)).toThrow(NewerFormat);
});
