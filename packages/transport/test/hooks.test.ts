import { EngramError, type Span } from '@engram/core';
import { serve, serveGrpcJs } from '@engram/transport';
import { type CallContext, type CallHooks, type Interceptor, intercepted } from '@engram/wire';
import { describe, expect, test } from 'vitest';
import { echoMethods } from './support/echo-methods.ts';
import { ByteClient, outcome, type Serve, startServing, until } from './support/serving.ts';

const servers: readonly (readonly [name: string, serve: Serve])[] = [
  ['grpc-js', serveGrpcJs],
  ['the own codec', serve],
];

/** Notes what it is told, and refuses what `refuses` names. */
class Noting implements Interceptor {
  readonly notes: string[] = [];
  readonly calls: CallContext[] = [];
  refuses = '';

  hooks(path: string): CallHooks {
    const name = path.slice(path.lastIndexOf('/') + 1);
    return {
      begin: (call) => {
        this.calls.push(call);
        this.notes.push(`${name} begin ${call.metadata('traceparent')}`);
      },
      received: (_call, bytes) => void this.notes.push(`${name} received ${bytes}`),
      admit: (_call, request) => {
        this.notes.push(`${name} admit ${request?.length}`);
        if (this.refuses === name) throw new EngramError('InvalidAuthToken');
      },
      sent: (_call, bytes) => void this.notes.push(`${name} sent ${bytes}`),
      end: (_call, { code, message }) => void this.notes.push(`${name} end ${code} ${message}`),
    };
  }
}

const REFUSED = 'end 16 etcdserver: invalid auth token';

describe.each(servers)('hooks, served by %s', (_name, serve) => {
  test('a unary call passes them in their order, and ends once', async () => {
    const noting = new Noting();
    await using serving = await startServing(serve, { methods: intercepted(echoMethods([]), [noting]) });
    using client = new ByteClient(serving.target);
    await client.unary('/test.Echo/Async', 'hello');
    expect(noting.notes).toEqual([
      'Async begin undefined',
      'Async received 5',
      'Async admit 5',
      'Async sent 5',
      'Async end 0 ',
    ]);
  });

  test('a stream passes them as well: its messages come between', async () => {
    const noting = new Noting();
    await using serving = await startServing(serve, { methods: intercepted(echoMethods([]), [noting]) });
    using client = new ByteClient(serving.target);
    const stream = client.bidi('/test.Echo/Bidi');
    const ended = outcome(stream);
    stream.write(Buffer.from('abc'));
    stream.end();
    expect((await ended).code).toBe(0);
    await until(() => noting.notes.at(-1)?.startsWith('Bidi end') === true);
    expect(noting.notes.slice(0, 3)).toEqual(['Bidi begin undefined', 'Bidi admit undefined', 'Bidi received 3']);
    expect(noting.notes.filter((note) => note.startsWith('Bidi end'))).toEqual(['Bidi end 0 ']);
  });

  test.each(['Sync', 'Bidi', 'Count'])('%s is not called where a hook refuses it', async (name) => {
    const noting = new Noting();
    noting.refuses = name;
    const journal: string[] = [];
    await using serving = await startServing(serve, { methods: intercepted(echoMethods(journal), [noting]) });
    using client = new ByteClient(serving.target);
    const path = `/test.Echo/${name}`;
    if (name === 'Sync') await expect(client.unary(path, 'x')).rejects.toMatchObject({ code: 16 });
    else {
      const stream = name === 'Bidi' ? client.bidi(path) : client.serverStream(path, '3');
      expect(await outcome(stream)).toMatchObject({
        messages: [],
        code: 16,
        details: 'etcdserver: invalid auth token',
      });
    }
    await until(() => noting.notes.at(-1) === `${name} ${REFUSED}`);
    expect(noting.notes.filter((note) => note.startsWith(`${name} end`))).toHaveLength(1);
    expect(journal).toEqual([]);
  });

  test('what a hook notes at a call is the call’s own', async () => {
    const noting = new Noting();
    const user = { name: 'alice', authRevision: 7 };
    const names: (string | undefined)[] = [];
    const naming: Interceptor = {
      hooks: () => ({
        begin: (call) => {
          if (noting.calls.length === 1) call.user = user;
        },
        end: ({ user: named, span }: { user?: typeof user | undefined; span?: Span | undefined }) =>
          void names.push(named?.name, span === undefined ? 'no span' : 'span'),
      }),
    };
    await using serving = await startServing(serve, { methods: intercepted(echoMethods([]), [noting, naming]) });
    using client = new ByteClient(serving.target);
    await client.unary('/test.Echo/Sync', 'a');
    await client.unary('/test.Echo/Sync', 'b');
    expect(names).toEqual(['alice', 'no span', undefined, 'no span']);
  });

  test('the connections that are open are counted', async () => {
    await using serving = await startServing(serve);
    expect(serving.server.connections).toBe(0);
    const client = new ByteClient(serving.target);
    await client.unary('/test.Echo/Sync', 'a');
    expect(serving.server.connections).toBe(1);
    client[Symbol.dispose]();
    await until(() => serving.server.connections === 0);
  });
});
