import { GrpcCode } from '@engram/core';
import { expect, test } from 'vitest';
import { statusOf } from '../src/transport/grpc-status.ts';

const lost = (established: boolean, cause: Error) =>
  statusOf({ kind: 'lost', established, tls: false, cause }, undefined);

test('a connection that fails at each of several addresses says why of each', () => {
  const cause = new AggregateError([
    new Error('connect ECONNREFUSED ::1:1'),
    new Error('connect ETIMEDOUT 10.0.0.1:1'),
  ]);
  expect(lost(false, cause)).toMatchObject({
    grpc: GrpcCode.UNAVAILABLE,
    message: 'No connection established. Last error: connect ECONNREFUSED ::1:1; connect ETIMEDOUT 10.0.0.1:1',
    cause,
    unsent: true,
    lost: true,
  });
});

test('a connection that was there says that it is lost: what was sent on it may have been done', () => {
  expect(lost(true, new Error('read ECONNRESET'))).toMatchObject({
    message: 'Connection dropped: read ECONNRESET',
    unsent: false,
    lost: true,
  });
});

test('a server cannot say by its words that it has got nothing', () => {
  const message = 'No connection established. Last error: connect ECONNREFUSED, bad certificate';
  const trailers = new Map([
    ['grpc-status', String(GrpcCode.UNAVAILABLE)],
    ['grpc-message', message],
  ]);
  expect(statusOf({ kind: 'complete', trailers }, undefined)).toMatchObject({
    message,
    unsent: false,
    tls: false,
    lost: false,
  });
});

test('the status OK is no error, and every other is one', () => {
  for (let code = 0; code < 17; code += 1) {
    const trailers = new Map([['grpc-status', String(code)]]);
    expect(statusOf({ kind: 'complete', trailers }, undefined)?.grpc).toBe(code === 0 ? undefined : code);
  }
});
