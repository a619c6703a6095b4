import { logPosition } from '@engram/core';
import { PeerLinks } from '@engram/peer';
import { quiet, realClock } from '@engram/sim';
import type { LogBatch } from '@engram/storage';
import { Server, ServerCredentials, type ServerWritableStream, type ServiceError, status } from '@grpc/grpc-js';
import { afterEach, expect, test } from 'vitest';
import type * as linkpb from '../src/gen/linkpb.ts';
import { peerService } from '../src/methods.ts';
import { Echo } from './echo.ts';

let closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.reverse()) close();
  closing = [];
});

/** A member that answers each stream of batches with these bytes, and ends it so; and what a follower makes of them. */
async function followed(messages: readonly Buffer[], end?: Pick<ServiceError, 'code' | 'details'>) {
  const server = new Server();
  closing.push(() => server.forceShutdown());
  const follow = { ...peerService.follow, responseSerialize: (bytes: Buffer) => bytes };
  server.addService(
    { exchange: peerService.exchange, follow },
    {
      exchange: () => {},
      follow: (call: ServerWritableStream<linkpb.FollowRequest, Buffer>) => {
        for (const message of messages) call.write(message);
        if (end === undefined) call.end();
        else call.emit('error', end);
      },
    },
  );
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  const service = new Echo();
  const links = new PeerLinks({
    clusterId: 0xc1n,
    memberId: 1n,
    storeId: 5n,
    tls: undefined,
    clock: realClock,
    logger: quiet,
    service: () => service,
  });
  closing.push(() => links[Symbol.dispose]());
  links.setMembers([{ id: 2n, peerUrls: [`http://127.0.0.1:${port}`] }]);
  const taken: LogBatch[] = [];
  const following = async (): Promise<string> => {
    for await (const batch of links.follow(2n, logPosition(1), new AbortController().signal)) taken.push(batch);
    return 'ended';
  };
  const outcome = await following().catch((error: { fault?: string }) => error.fault);
  return { outcome, taken, links };
}

const record = Uint8Array.of(7);
const message = (...batches: linkpb.BatchInit[]): Buffer => peerService.follow.responseSerialize({ batches });

test('a batch in pieces is one batch', async () => {
  const { outcome, taken } = await followed([
    message({ first: 1, records: [record, record], more: true }),
    message({ first: 3, records: [record] }),
  ]);
  expect(outcome).toBe('ended');
  expect(taken).toEqual([{ first: 1, records: [record, record, record] }]);
});

test.each([
  { what: 'is no message', messages: [Buffer.from([0xff, 0xff, 0xff])] },
  { what: 'begins at no position', messages: [message({ first: 0, records: [record] })] },
  {
    what: 'has a piece that does not continue it',
    messages: [message({ first: 1, records: [record], more: true }, { first: 3, records: [record] })],
  },
])('a batch that $what is refused, and nothing of it is taken', async ({ messages }) => {
  const { outcome, taken, links } = await followed(messages);
  expect(outcome).toBe('refused');
  expect(taken).toEqual([]);
  links.refusedBatch(2n);
  expect(links.traffic.with(2n)?.refusedBatches).toBe(1);
});

test('a stream that ends in the words of an unreadable message is lost, and no batch is refused', async () => {
  const end = { code: status.INTERNAL, details: 'Response message parsing error: the member says so' };
  expect((await followed([message({ first: 1, records: [record] })], end)).outcome).toBe('lost');
});
