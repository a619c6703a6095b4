import { expect, test } from 'vitest';
import { AssertionError, EngramError } from '@engram/core';
import { StatusError, statusOf, WireError } from '@engram/wire';

test.each([
  { error: new EngramError('NoLeader'), code: 14, message: 'etcdserver: no leader' },
  { error: new StatusError(5, 'unknown service'), code: 5, message: 'unknown service' },
  { error: new WireError('proto: x'), code: 13, message: 'grpc: error unmarshalling request: proto: x' },
  { error: new TypeError('boom'), code: 2, message: 'boom' },
  { error: 'text', code: 2, message: 'text' },
])('$message is the status of what was thrown', ({ error, code, message }) => {
  expect(statusOf(error)).toEqual({ code, message });
});

test('an unreadable message within a stream has a text of its own', () => {
  expect(statusOf(new WireError('proto: x'), 'stream').message).toBe(
    'grpc: failed to unmarshal the received message: proto: x',
  );
});

test('a broken invariant is no answer', () => {
  expect(() => statusOf(new AssertionError('lost'))).toThrow(AssertionError);
});
