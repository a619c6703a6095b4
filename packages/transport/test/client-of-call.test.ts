import { expect, test } from 'vitest';
import { serve, serveGrpcJs } from '@engram/transport';
import type { CallContext, Method } from '@engram/wire';
import { ByteClient, type Serve, startServing } from './support/serving.ts';

const servers: readonly (readonly [name: string, serve: Serve])[] = [
  ['grpc-js', serveGrpcJs],
  ['the own codec', serve],
];

test.each(servers)(
  'calls of one connection are of one client, those of another are not, by %s',
  async (_name, serve) => {
    const calls: Pick<CallContext, 'client' | 'method'>[] = [];
    const handle = (request: Uint8Array, { client, method }: CallContext): Uint8Array => {
      calls.push({ client, method });
      return request;
    };
    const methods = new Map<string, Method>([
      ['/test.Who/Am', { kind: 'unary', handle }],
      ['/test.Who/Are', { kind: 'unary', handle }],
    ]);
    await using serving = await startServing(serve, { methods });
    using one = new ByteClient(serving.target);
    using other = new ByteClient(serving.target);
    await one.unary('/test.Who/Am', '');
    await one.unary('/test.Who/Are', '');
    await other.unary('/test.Who/Am', '');
    expect(calls.map(({ method }) => method)).toEqual(['/test.Who/Am', '/test.Who/Are', '/test.Who/Am']);
    const [first, second, third] = calls.map(({ client }) => client);
    expect(second).toBe(first);
    expect(third).not.toBe(first);
  },
);
