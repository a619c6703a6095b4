import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { etcdserverpb, type Init } from '@engram/wire';
import { ALL, Api, b, failure, t } from './api.ts';

type Op = Init<etcdserverpb.RequestOp>;
type Txn = Init<etcdserverpb.TxnRequest>;
type Compare = Init<etcdserverpb.Compare>;
const { CompareCompareResult: Is, CompareCompareTarget: Of } = etcdserverpb;

const put = (key: string, value = key): Op => ({ requestPut: { key: b(key), value: b(value) } });
const del = (key: string, end = ''): Op => ({ requestDeleteRange: { key: b(key), rangeEnd: b(end) } });
const get = (key: string, revision = 0): Op => ({ requestRange: { key: b(key), revision } });
const nested = (success: readonly Op[], failed: readonly Op[] = [], compare: readonly Compare[] = []): Op => ({
  requestTxn: { compare, success, failure: failed },
});
const times = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));

let api: Api;
beforeEach(async () => {
  api = await Api.open();
});
afterEach(() => api[Symbol.asyncDispose]());

const invalid = (message: string) => ({ code: 3, message: `etcdserver: ${message}` });
const tooMany = invalid('too many operations in txn request');
const duplicate = invalid('duplicate key given in txn request');
const compacted = { code: 11, message: 'etcdserver: mvcc: required revision has been compacted' };
const future = { code: 11, message: 'etcdserver: mvcc: required revision is a future revision' };

describe('what is refused before anything happens', () => {
  const compare = (at: number): Compare => ({ key: b(`k${at}`), target: Of.VERSION });

  test.each([
    { what: 'compares', txn: { compare: times(129, compare) } },
    { what: 'operations', txn: { success: times(129, (at) => get(`k${at}`)) } },
    { what: 'operations otherwise', txn: { failure: times(129, (at) => put(`k${at}`)) } },
    { what: 'nested transactions', txn: { success: times(129, () => nested([])) } },
  ])('edge 33: 129 $what are too many', async ({ txn }) => {
    expect(await failure(api.txn(txn))).toEqual(tooMany);
  });

  test('edge 33: 128 of each are not', async () => {
    const ops = { success: times(128, (at) => put(`k${at}`)), failure: times(128, (at) => put(`k${at}`)) };
    expect((await api.txn({ compare: times(128, compare), ...ops })).succeeded).toBe(true);
  });

  test('edge 34: a nested transaction has what its parent leaves, siblings do not share it', async () => {
    const filled = (inner: number): Txn => ({
      success: [
        ...times(98, (at) => put(`k${at}`)),
        nested(times(inner, (at) => put(`n${at}`))),
        nested(times(inner, (at) => put(`m${at}`))),
      ],
    });
    expect(await failure(api.txn(filled(29)))).toEqual(tooMany);
    expect((await api.txn(filled(28))).succeeded).toBe(true);
  });

  test('nested transactions, each small enough, have 8,192 compares and operations together, and no more', async () => {
    const ops = times(64, () => nested(times(63, (at) => get(`k${at}`))));
    const compares = { compare: [compare(0)] };
    expect((await api.txn({ success: ops, failure: ops })).responses).toHaveLength(64);
    expect(await failure(api.txn({ ...compares, success: ops, failure: ops }))).toEqual(tooMany);
  });

  test('what is too large, and has a key twice, is told as the second, which etcd checks first', async () => {
    const large = (key: string) => ({ requestPut: { key: b(key), value: new Uint8Array(2 ** 20) } });
    const twice = invalid('duplicate key given in txn request');
    expect(await failure(api.txn({ success: [large('a'), large('a')] }))).toEqual(twice);
    expect(await failure(api.txn({ success: [large('a'), large('b')] }))).toEqual(invalid('request is too large'));
  });

  test.each([
    { why: 'two puts', ops: [put('a'), put('a')] },
    { why: 'a put, then its delete', ops: [put('a'), del('a')] },
    { why: 'a delete, then its put', ops: [del('a'), put('a')] },
    { why: 'a put within a deleted range', ops: [put('abc'), del('a', 'b')] },
    { why: 'a put, and a nested delete of it', ops: [put('a'), nested([del('a')])] },
    { why: 'a delete, and a nested put of it', ops: [del('a'), nested([put('a')])] },
    { why: 'a nested delete in a branch, and a put', ops: [put('a'), nested([], [del('a', 'b')])] },
    { why: 'edge 37: sibling transactions', ops: [nested([put('a')]), nested([put('a')])] },
    { why: 'sibling transactions, else branches', ops: [nested([], [put('a')]), nested([], [put('a')])] },
    { why: 'a put after a delete in a sibling', ops: [nested([del('a')]), nested([put('a')])] },
    { why: 'a delete in a sibling of the put', ops: [nested([put('a')]), nested([del('a')])] },
    { why: 'a put below an open-ended delete', ops: [del('a', '\0'), put('b')] },
    { why: 'two levels deep', ops: [put('a'), nested([nested([put('a')])])] },
  ])('edge 35: a key changed twice: $why', async ({ ops }) => {
    expect(await failure(api.txn({ success: ops }))).toEqual(duplicate);
    expect(await failure(api.txn({ failure: ops }))).toEqual(duplicate);
    expect((await api.range(ALL)).header?.revision).toBe(1);
  });

  test.each([
    { why: 'edge 37: both branches of one nested transaction', ops: [nested([put('a')], [put('a')])] },
    { why: 'edge 38: the end of a range is not in it', ops: [put('abc'), del('abb', 'abc')] },
    { why: 'a put in one branch, a delete in the other', ops: [nested([put('a')], [del('a')])] },
    { why: 'an empty deleted range', ops: [put('b'), del('c', 'a')] },
    { why: 'a range of a key that is put', ops: [get('a'), put('a'), get('a')] },
    { why: 'keys around a deleted range', ops: [put('a'), put('c'), del('b')] },
  ])('accepted: $why', async ({ ops }) => {
    expect((await api.txn({ success: ops })).responses).toHaveLength(ops.length);
  });

  test('edge 36: deletes may overlap; what the first takes the others do not find', async () => {
    await api.fill('a', 'ab');
    const { responses } = await api.txn({ success: [del('a'), del('a', 'b'), del('a')] });
    expect(responses.map((response) => response.responseDeleteRange?.deleted)).toEqual([1, 1, 0]);
  });

  test('edge 39: an operation of no kind', async () => {
    expect(await failure(api.txn({ success: [{}] }))).toEqual(invalid('key not found'));
    expect(await failure(api.txn({ success: [nested([], [{}])] }))).toEqual(invalid('key not found'));
  });

  test.each([
    { txn: { compare: [{ key: b('') }] }, message: 'key is not provided' },
    { txn: { success: [put('')] }, message: 'key is not provided' },
    { txn: { failure: [del('')] }, message: 'key is not provided' },
    { txn: { success: [get('')] }, message: 'key is not provided' },
    { txn: { success: [{ requestRange: { key: b('a'), sortTarget: 9 } }] }, message: 'invalid sort option' },
    {
      txn: { success: [{ requestPut: { key: b('a'), value: b('1'), ignoreValue: true } }] },
      message: 'value is provided',
    },
    { txn: { success: [nested([put('')])] }, message: 'key is not provided' },
    { txn: { compare: [{ key: b('') }], success: times(129, () => put('a')) }, message: tooMany.message.slice(12) },
  ])('each operation is checked as its own request would be: $message', async ({ txn, message }) => {
    expect(await failure(api.txn(txn))).toEqual(invalid(message));
  });
});

describe('compares', () => {
  const holds = async (...compare: readonly Compare[]): Promise<boolean> => (await api.txn({ compare })).succeeded;
  const every = [Is.EQUAL, Is.NOT_EQUAL, Is.LESS, Is.GREATER];

  test('edge 40: VALUE of a missing key never holds', async () => {
    for (const result of every) {
      expect(await holds({ key: b('a'), target: Of.VALUE, result, value: b('') })).toBe(false);
    }
  });

  test('edge 41: a missing key has zeros', async () => {
    expect(await holds({ key: b('a'), target: Of.VERSION, version: 0 })).toBe(true);
    expect(await holds({ key: b('a'), target: Of.CREATE, result: Is.GREATER, createRevision: 0 })).toBe(false);
    expect(await holds({ key: b('a'), target: Of.LEASE, lease: 0n })).toBe(true);
  });

  test('edge 42: a range must hold for all its keys, an empty one is a missing key', async () => {
    const range = { key: b('k'), rangeEnd: b('l') };
    expect(await holds({ ...range, target: Of.VERSION, version: 0 })).toBe(true);
    expect(await holds({ ...range, target: Of.VALUE, value: b('x') })).toBe(false);
    await api.fill('k1', 'k2', 'k3');
    expect(await holds({ ...range, target: Of.VERSION, version: 1 })).toBe(true);
    await api.fill('k2');
    expect(await holds({ ...range, target: Of.VERSION, version: 1 })).toBe(false);
  });

  test('edge 43: another member of the union than the target compares with 0', async () => {
    await api.fill('a');
    expect(await holds({ key: b('a'), target: Of.MOD, result: Is.GREATER, version: 1_000 })).toBe(true);
    expect(await holds({ key: b('none'), target: Of.MOD, version: 1_000 })).toBe(true);
  });

  test('edge 52: of two that create a key, one succeeds, and the other sees what it wrote', async () => {
    const create = (value: string) =>
      api.txn({
        compare: [{ key: b('a'), target: Of.VERSION, version: 0 }],
        success: [put('a', value)],
        failure: [get('a')],
      });
    const results = await Promise.all([create('1'), create('2')]);
    expect(results.map(({ succeeded }) => succeeded)).toEqual([true, false]);
    expect(t(results[1]!.responses[0]!.responseRange!.kvs[0]!.value)).toBe('1');
  });

  test('edge 53: who saw version i has a revision below the put of i + 1', async () => {
    await api.fill('a');
    const [seen, written] = await Promise.all([
      api.txn({ compare: [{ key: b('a'), target: Of.VERSION, version: 1 }], success: [get('a')] }),
      api.put({ key: b('a') }),
    ]);
    expect(seen.succeeded).toBe(seen.header!.revision < written.header!.revision);
  });
});

describe('execution', () => {
  test('edge 44: no compares is success, no operations is no change', async () => {
    expect(await api.txn({ success: [put('a')], failure: [put('b')] })).toMatchObject({ succeeded: true });
    expect(await api.txn({})).toMatchObject({ succeeded: true, responses: [], header: { revision: 2 } });
  });

  test('edge 45: what changes nothing takes no revision', async () => {
    const at = await api.fill('a');
    expect((await api.txn({ success: [get('a')] })).header?.revision).toBe(at);
    expect((await api.txn({ success: [del('none')] })).header?.revision).toBe(at);
  });

  test('edge 46: a range behind a put sees it, and has its revision', async () => {
    const at = await api.fill('b');
    const { responses, header } = await api.txn({ success: [get('a'), put('a'), get('a')] });
    const [before, written, after] = responses;
    expect(before?.responseRange).toMatchObject({ kvs: [], header: { revision: at } });
    expect(written?.responsePut?.header?.revision).toBe(at + 1);
    expect(after?.responseRange).toMatchObject({ kvs: [{ modRevision: at + 1 }], header: { revision: at + 1 } });
    expect(header?.revision).toBe(at + 1);
  });

  test('edge 47: a range at the revision that is being written fails all', async () => {
    const at = await api.fill('a');
    expect(await failure(api.txn({ success: [put('b'), get('a', at + 1)] }))).toEqual(future);
    expect((await api.range(ALL)).count).toBe(1);
  });

  test('a range below the compact revision fails all', async () => {
    await api.fill('a', 'a');
    await api.compact(3);
    expect(await failure(api.txn({ success: [put('b'), get('a', 2)] }))).toEqual(compacted);
    expect((await api.range(ALL)).count).toBe(1);
  });

  test('edge 48: a bad lease matters in the branch that is taken', async () => {
    const leased = { requestPut: { key: b('a'), lease: 9n } };
    expect((await api.txn({ success: [put('b')], failure: [leased] })).succeeded).toBe(true);
    const status = { code: 5, message: 'etcdserver: requested lease not found' };
    expect(await failure(api.txn({ success: [put('c'), leased] }))).toEqual(status);
    expect((await api.range({ key: b('c') })).count).toBe(0);
  });

  test("edge 49: a nested compare does not see its parent's put", async () => {
    const inner = nested([get('then')], [get('else'), get('else')], [{ key: b('a'), target: Of.VERSION, version: 1 }]);
    const { responses } = await api.txn({ success: [put('a'), inner] });
    expect(responses[1]?.responseTxn).toMatchObject({ succeeded: false });
    expect(responses[1]?.responseTxn?.responses).toHaveLength(2);
  });

  test('edge 50: headers within are bare, a nested one is empty', async () => {
    const { responses, header } = await api.txn({ success: [put('a'), nested([put('b')])] });
    const empty = { clusterId: 0n, memberId: 0n, revision: 0, raftTerm: 0 };
    expect(header).toMatchObject({ revision: 2, raftTerm: 4 });
    expect(responses[0]?.responsePut?.header).toEqual({ ...empty, revision: 2 });
    const inner = responses[1]?.responseTxn;
    expect(inner?.header).toEqual(empty);
    expect(inner?.responses[0]?.responsePut?.header).toEqual({ ...empty, revision: 2 });
  });

  test('edge 51: prev_kv of a key that no earlier operation changed is what was there before', async () => {
    await api.fill('a', 'b');
    const removal = { requestDeleteRange: { key: b('b'), prevKv: true } };
    const { responses } = await api.txn({ success: [put('a'), removal] });
    expect(responses[1]?.responseDeleteRange?.prevKvs).toMatchObject([{ modRevision: 3, version: 1 }]);
  });

  test.each([
    { nested: 60, puts: 17 },
    { nested: 100, puts: 28 },
    { nested: 64, puts: 64 },
  ])('$nested nested transactions of $puts puts each are one transaction', async ({ nested, puts }) => {
    const inner = (of: number) => ({ success: times(puts, (at) => put(`k${of}/${at}`)) });
    const { responses } = await api.txn({ success: times(nested, (of) => ({ requestTxn: inner(of) })) });
    expect(responses).toHaveLength(nested);
    const { count } = await api.range({ key: b('k'), rangeEnd: b('l'), countOnly: true });
    expect(count).toBe(nested * puts);
  });

  test('edge 54: 500 operations, where they are allowed, are one revision in their order', async () => {
    await using wide = await Api.open({ limits: { maxTxnOps: 1024 } });
    const watch = wide.watch();
    watch.create({ key: b('k'), rangeEnd: b('l') });
    const keys = times(500, (at) => `k${(at * 7) % 500}`);
    expect((await wide.txn({ success: keys.map((key) => put(key)) })).header?.revision).toBe(2);
    const responses = await watch.rest();
    expect(responses).toHaveLength(1);
    expect(responses[0]!.events.map((event) => t(event.kv!.key))).toEqual(keys);
  });
});
