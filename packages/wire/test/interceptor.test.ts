import { EngramError } from '@engram/core';
import {
  type CallContext,
  type CallHooks,
  callUnary,
  type Interceptor,
  intercepted,
  type Message,
  type MethodTable,
  type UnaryMethod,
} from '@engram/wire';
import { expect, test } from 'vitest';

const PUT = '/x/Put';
const call: CallContext = {
  head: { admitted: undefined },
  signal: new AbortController().signal,
  peer: '127.0.0.1:1',
  client: '127.0.0.1:1',
  method: PUT,
  commonName: undefined,
  metadata: () => undefined,
};
const request = Uint8Array.of(1, 2);
const answer = Uint8Array.of(1, 2, 3);

/** An interceptor that notes each hook. With `refuse`, it admits no call. */
function noting(name: string, notes: string[], refuse?: Error): Interceptor {
  return {
    hooks: (path, kind) => ({
      begin: (begun) => void notes.push(`${name} begin ${path} ${kind} ${begun.peer}`),
      received: (_call, bytes) => void notes.push(`${name} received ${bytes}`),
      admit: (_call, asked) => {
        notes.push(`${name} admit ${asked?.length}`);
        if (refuse !== undefined) throw refuse;
      },
      sent: (_call, bytes) => void notes.push(`${name} sent ${bytes}`),
      end: (_call, { code }, ms) => void notes.push(`${name} end ${code} ${ms}`),
    }),
  };
}

const tableOf = (handle: UnaryMethod['handle'], hooks?: CallHooks): MethodTable =>
  new Map([[PUT, { kind: 'unary', handle, hooks }]]);

/** Calls the method of the table; each look at the clock takes 5 ms. */
async function called(methods: MethodTable): Promise<Message> {
  const method = methods.get(PUT);
  if (method?.kind !== 'unary') throw new Error('no such method');
  let nowMs = 0;
  return await callUnary(method, request, call, () => {
    nowMs += 5;
    return nowMs;
  });
}

test('hooks are called in the order of the list, those of the method last', async () => {
  const notes: string[] = [];
  const handle = (): Message => {
    notes.push('handler');
    return answer;
  };
  const own = noting('own', notes).hooks(PUT, 'unary');
  const methods = intercepted(tableOf(handle, own), [noting('a', notes), noting('b', notes)]);
  expect(await called(methods)).toBe(answer);
  expect(notes).toEqual([
    'a begin /x/Put unary 127.0.0.1:1',
    'b begin /x/Put unary 127.0.0.1:1',
    'own begin /x/Put unary 127.0.0.1:1',
    ...['a received 2', 'b received 2', 'own received 2', 'a admit 2', 'b admit 2', 'own admit 2', 'handler'],
    ...['a sent 3', 'b sent 3', 'own sent 3', 'a end 0 5', 'b end 0 5', 'own end 0 5'],
  ]);
});

test('who refuses a call is the last to be asked, and all learn of its end', async () => {
  const notes: string[] = [];
  const refusal = new EngramError('NoLeader');
  const methods = intercepted(
    tableOf(() => {
      throw new Error('the handler was called');
    }),
    [noting('a', notes), noting('b', notes, refusal), noting('c', notes)],
  );
  await expect(called(methods)).rejects.toBe(refusal);
  expect(notes.filter((note) => / (admit|end|sent) /.test(note))).toEqual([
    ...['a admit 2', 'b admit 2', 'a end 14 5', 'b end 14 5', 'c end 14 5'],
  ]);
});

test.each([
  [
    'throws',
    () => {
      throw new EngramError('Compacted');
    },
  ],
  ['rejects', () => Promise.reject(new EngramError('Compacted'))],
] as const)('a handler that %s ends the call with its code', async (_how, handle) => {
  const notes: string[] = [];
  await expect(called(intercepted(tableOf(handle), [noting('a', notes)]))).rejects.toThrow('compacted');
  expect(notes.at(-1)).toBe('a end 11 5');
});

test('a method that no interceptor wants has no hooks, and one that wants a few has those alone', async () => {
  const nobody: Interceptor = { hooks: () => undefined };
  const plain = tableOf(() => answer);
  expect(intercepted(plain, [nobody, nobody]).get(PUT)?.hooks).toBeUndefined();
  const ends: number[] = [];
  const only: CallHooks = { end: (_call, _status, ms) => void ends.push(ms) };
  const one = intercepted(plain, [nobody, { hooks: () => only }]);
  expect(one.get(PUT)?.hooks).toBe(only);
  const two = intercepted(plain, [{ hooks: () => only }, { hooks: () => ({}) }, { hooks: () => only }]);
  await called(one);
  await called(two);
  expect(ends).toEqual([5, 5, 5]);
  expect(await called(plain)).toBe(answer);
});
