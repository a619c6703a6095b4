import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AssertionError, utf8 } from '@engram/core';
import { CoderError } from '@engram/coder';
import { type AuthRecord, AuthState, decodeAuthRecord, encodeAuthRecord, replayAuthRecord } from '@engram/auth';
import { changes, plain, plainChange, play } from './arbitraries.ts';
import { addUser, disable, enable, grantRole, hash } from './states.ts';

const records: fc.Arbitrary<AuthRecord> = fc.record({
  revision: fc.oneof(fc.nat(300), fc.constantFrom(2 ** 32, Number.MAX_SAFE_INTEGER)),
  change: changes,
});

const hex = (record: AuthRecord): string => Buffer.from(encodeAuthRecord(record)).toString('hex');

describe('records of auth changes', () => {
  test('survive the round trip', () => {
    fc.assert(
      fc.property(records, (record) => {
        const read = decodeAuthRecord(encodeAuthRecord(record));
        expect(read.revision).toBe(record.revision);
        const { change } = record;
        const kept = change.kind === 'user-add' && change.noPassword ? { ...change, password: hash('') } : change;
        expect(plainChange(read.change)).toEqual(plainChange(kept));
      }),
    );
  });

  test('have bytes that a later program reads', () => {
    expect(hex({ revision: 3, change: enable })).toBe('0103');
    expect(hex({ revision: 300, change: disable })).toBe('02ac02');
    expect(hex({ revision: 2, change: addUser('bob', 'h') })).toBe('030203626f62000168');
    expect(hex({ revision: 5, change: grantRole('bob', 'r') })).toBe('060503626f620172');
    const permission = { type: 2, range: { key: utf8('k'), end: utf8('l') } };
    expect(hex({ revision: 6, change: { kind: 'role-grant-permission', role: 'r', permission } })).toBe(
      '0a06017202016b016c',
    );
  });

  test('that are cut off, or go on, are refused', () => {
    fc.assert(
      fc.property(records, fc.uint8Array({ minLength: 1, maxLength: 3 }), (record, more) => {
        const bytes = encodeAuthRecord(record);
        for (let length = 0; length < bytes.length; length += 1) {
          expect(() => decodeAuthRecord(bytes.subarray(0, length))).toThrow(CoderError);
        }
        expect(() => decodeAuthRecord(Buffer.concat([bytes, more]))).toThrow(CoderError);
      }),
    );
  });

  test.each([
    ['an unknown kind', '0c02'],
    ['kind 0', '0002'],
    ['a flag that is neither 0 nor 1', '030203626f62020168'],
    ['a name that is not UTF-8', '0402 01ff'],
    ['a revision above 2^53', '01ffffffffffffff7f'],
  ])('with %s are refused', (_, text) => {
    expect(() => decodeAuthRecord(Buffer.from(text.replaceAll(' ', ''), 'hex'))).toThrow(CoderError);
  });

  test('of any bytes are read or refused, nothing else', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        try {
          decodeAuthRecord(bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(CoderError);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test('show a password in no text', () => {
    const record = { revision: 2, change: addUser('bob', 'geheim') };
    for (const shown of [
      inspect(record, { depth: 9, showHidden: true }),
      JSON.stringify(record),
      `${hash('geheim')}`,
      inspect(decodeAuthRecord(encodeAuthRecord(record)), { depth: 9 }),
    ]) {
      expect(shown).toContain('password hash');
      expect(shown).not.toMatch(/geheim|103,\s*101|67 65 68/);
    }
    const bytes = encodeAuthRecord(record);
    for (let length = 0; length < bytes.length; length += 1) {
      expect(() => decodeAuthRecord(bytes.subarray(0, length))).toThrow(
        /^cannot decode an auth record: [a-zA-Z ]+ at byte \d+$/,
      );
    }
  });
});

describe('a replay', () => {
  test('from any state on leads to the same state, also over changes that the state has', () => {
    fc.assert(
      fc.property(fc.array(changes, { maxLength: 40 }), fc.nat(), fc.nat(), (steps, from, start) => {
        const { states, records } = play(steps);
        const held = start % states.length;
        // The state that a checkpoint has is at or above the first record that is replayed.
        const first = from % (held + 1);
        const state = records
          .slice(first)
          .map((record) => decodeAuthRecord(encodeAuthRecord(record)))
          .reduce(replayAuthRecord, states[held]!);
        expect(plain(state)).toEqual(plain(states.at(-1)!));
      }),
    );
  });

  test('over enabling and disabling ends as the last record says', () => {
    const steps = [addUser('root'), grantRole('root', 'root'), enable, disable, enable, disable];
    const { states, records } = play(steps);
    for (const state of states) expect(records.reduce(replayAuthRecord, state).enabled).toBe(false);
    for (const state of states.slice(0, -1)) {
      expect(records.slice(0, -1).reduce(replayAuthRecord, state).enabled).toBe(true);
    }
  });

  test('of a record that does not fit is a broken invariant', () => {
    const missing = { revision: 3, change: grantRole('root', 'root') };
    expect(() => replayAuthRecord(AuthState.first, missing)).toThrow(AssertionError);
    expect(() => replayAuthRecord(AuthState.first, { revision: 3, change: addUser('root') })).toThrow(AssertionError);
  });
});
