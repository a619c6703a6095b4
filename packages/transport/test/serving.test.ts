import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, get, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as grpc from '@grpc/grpc-js';
import { SimClock } from '@engram/sim';
import { describe, expect, test, onTestFinished } from 'vitest';
import { serve, serveGrpcJs } from '@engram/transport';
import { ByteClient, outcome, type Serve, startServing, until } from './support/serving.ts';
import { waitingMethods } from './support/waiting-methods.ts';

const servers: readonly (readonly [name: string, serve: Serve])[] = [
  ['grpc-js', serveGrpcJs],
  ['the own codec', serve],
];

describe.each(servers)('served by %s', (_name, serve) => {
  test.each([
    { path: '/test.Echo/Sync', request: 'hello', answer: 'hello', why: 'a handler may answer at once' },
    { path: '/test.Echo/Sync', request: '', answer: '', why: 'an empty message is a message' },
    { path: '/test.Echo/Async', request: 'hello', answer: 'hello', why: 'or later' },
    { path: '/test.Echo/Pieces', request: 'hello', answer: '<hello>', why: 'pieces are sent one after another' },
    { path: '/test.Echo/Metadata', request: 'user-agent-unknown', answer: 'undefined', why: 'a missing key' },
  ])('$path $request: $why', async ({ path, request, answer }) => {
    await using serving = await startServing(serve);
    using client = new ByteClient(serving.target);
    expect((await client.unary(path, request)).toString()).toBe(answer);
    expect(serving.observer.handled).toEqual([`${path.slice(11)} 0`]);
    expect(serving.observer.received).toBe(request.length);
    expect(serving.observer.sent).toBe(answer.length);
  });

  test.each([
    {
      request: 'engram',
      code: 11,
      details: 'etcdserver: mvcc: required revision has been compacted',
      why: 'its own status',
    },
    {
      request: 'wire',
      code: 13,
      details: 'grpc: error unmarshalling request: truncated',
      why: 'undecodable is INTERNAL',
    },
    { request: 'plain', code: 2, details: 'plain text', why: 'a foreign error is UNKNOWN' },
    { request: 'unicode', code: 2, details: 'naïve 100% — ok\n', why: 'grpc-message is percent-encoded UTF-8' },
  ])('throwing $request: $why', async ({ request, code, details }) => {
    await using serving = await startServing(serve);
    using client = new ByteClient(serving.target);
    await expect(client.unary('/test.Echo/Throw', request)).rejects.toMatchObject({ code, details });
    expect(serving.observer.handled).toEqual([`Throw ${code}`]);
  });

  test('a rejected promise is a status', async () => {
    await using serving = await startServing(serve);
    using client = new ByteClient(serving.target);
    await expect(client.unary('/test.Echo/Reject', '')).rejects.toMatchObject({
      code: 14,
      details: 'etcdserver: no leader',
    });
  });

  test.each(['/test.Echo/Nothing', '/nobody.Knows/Me', '/odd'])(
    'edge 130: %s is UNIMPLEMENTED, and the connection goes on',
    async (path) => {
      await using serving = await startServing(serve);
      using client = new ByteClient(serving.target);
      await expect(client.unary(path, 'x')).rejects.toMatchObject({ code: 12 });
      expect(serving.observer.handled).toEqual([]);
      expect((await client.unary('/test.Echo/Sync', 'still here')).toString()).toBe('still here');
    },
  );

  test('metadata: the first value of a key', async () => {
    await using serving = await startServing(serve);
    using client = new ByteClient(serving.target);
    const metadata = new grpc.Metadata();
    metadata.add('token', 'first');
    metadata.add('token', 'second');
    metadata.add('source', 'cache');
    expect((await client.unary('/test.Echo/Metadata', 'token', {}, metadata)).toString()).toMatch(/^first/);
  });

  test('a message above the receive limit is RESOURCE_EXHAUSTED, one at the limit is served', async () => {
    await using serving = await startServing(serve, { maxRequestBytes: 1000 });
    using client = new ByteClient(serving.target);
    await expect(client.unary('/test.Echo/Sync', Buffer.alloc(1001))).rejects.toMatchObject({
      code: 8,
      details: expect.stringMatching(/received message larger than max \(1001 vs\.? 1000\)/i),
    });
    expect(await client.unary('/test.Echo/Sync', Buffer.alloc(1000))).toHaveLength(1000);
  });

  test('big messages both ways pass the flow control windows', async () => {
    await using serving = await startServing(serve, { maxRequestBytes: 8 * 1024 * 1024 });
    using client = new ByteClient(serving.target);
    const request = Buffer.alloc(5 * 1024 * 1024, 'abc');
    expect((await client.unary('/test.Echo/Sync', request)).equals(request)).toBe(true);
    expect(await client.unary('/test.Echo/Big', '30000000')).toHaveLength(30_000_000);
  });

  test('a deadline ends a call on both sides', async () => {
    await using serving = await startServing(serve);
    using client = new ByteClient(serving.target);
    await client.unary('/test.Echo/Sync', 'connected');
    await expect(client.unary('/test.Echo/Hang', '', { deadline: Date.now() + 500 })).rejects.toMatchObject({
      code: 4,
    });
    await until(() => serving.journal.includes('aborted') && serving.observer.open === 0);
    expect(serving.observer.handled[1]).toMatch(/^Hang (1|4)$/); // the client's RST_STREAM may arrive first
  });

  test('a client that cancels aborts the handler', async () => {
    await using serving = await startServing(serve);
    using client = new ByteClient(serving.target);
    const { cancel, answer } = client.start('/test.Echo/Hang', '');
    await until(() => serving.journal.includes('hangs'));
    cancel();
    await expect(answer).rejects.toMatchObject({ code: 1 });
    await until(() => serving.journal.includes('aborted'));
    expect(serving.observer.handled).toEqual(['Hang 1']);
  });

  test('a connection that breaks aborts the handler', async () => {
    await using serving = await startServing(serve);
    const client = new ByteClient(serving.target);
    const { answer } = client.start('/test.Echo/Hang', '');
    await until(() => serving.journal.includes('hangs'));
    answer.catch(() => {});
    await serving.server.close();
    await until(() => serving.journal.includes('aborted'));
    client[Symbol.dispose]();
  });

  test('a bidi stream echoes in order and ends OK after the half close', async () => {
    await using serving = await startServing(serve);
    using client = new ByteClient(serving.target);
    const stream = client.bidi('/test.Echo/Bidi');
    const ended = outcome(stream);
    const sent = Array.from({ length: 200 }, (_, at) => `message ${at}`);
    for (const message of sent) stream.write(Buffer.from(message));
    stream.end();
    expect(await ended).toEqual({ messages: sent, code: 0, details: expect.anything() });
    await until(() => serving.observer.open === 0);
    expect(serving.journal).toEqual(['closed']);
  });

  test('a stream ends with the status that the handler gave, after what it sent', async () => {
    await using serving = await startServing(serve);
    using client = new ByteClient(serving.target);
    const stream = client.bidi('/test.Echo/Bidi');
    stream.write(Buffer.from('fail'));
    expect(await outcome(stream)).toEqual({ messages: ['fail'], code: 11, details: 'failed as told' });
    await until(() => serving.journal.length > 0);
    expect(serving.journal).toEqual(['closed']);
  });

  test('a stream handler that throws ends its stream with that status', async () => {
    await using serving = await startServing(serve);
    using client = new ByteClient(serving.target);
    const stream = client.bidi('/test.Echo/Bidi');
    stream.write(Buffer.from('throw'));
    expect(await outcome(stream)).toMatchObject({ code: 1, details: 'etcdserver: request canceled' });
  });

  test('a cancelled stream is closed once', async () => {
    await using serving = await startServing(serve);
    using client = new ByteClient(serving.target);
    const stream = client.bidi('/test.Echo/Open');
    const ended = outcome(stream);
    await until(() => serving.observer.open === 1);
    stream.cancel();
    expect(await ended).toMatchObject({ code: 1 });
    await until(() => serving.observer.open === 0);
    expect(serving.journal).toEqual(['closed']);
    expect(serving.observer.handled).toEqual(['Open 1']);
  });

  test('a server stream that ends inside open', async () => {
    await using serving = await startServing(serve);
    using client = new ByteClient(serving.target);
    expect(await outcome(client.serverStream('/test.Echo/Count', '3'))).toMatchObject({
      messages: ['1', '2', '3'],
      code: 0,
    });
    await until(() => serving.journal.length > 0);
    expect(serving.journal).toEqual(['closed']);
  });

  test('a producer that looks at queuedBytes is called when they drain', async () => {
    await using serving = await startServing(serve);
    using client = new ByteClient(serving.target);
    const { messages, code } = await outcome(client.serverStream('/test.Echo/Flood', '400'));
    expect({ code, bytes: messages.reduce((sum, message) => sum + message.length, 0) }).toEqual({
      code: 0,
      bytes: 400 * 65536,
    });
    expect(serving.journal).toContain('drained');
  });

  test('a drain ends streams with UNAVAILABLE and lets unary calls finish', async () => {
    await using serving = await startServing(serve);
    using client = new ByteClient(serving.target);
    const ended = outcome(client.bidi('/test.Echo/Open'));
    await until(() => serving.observer.open === 1);
    await serving.server.drain(AbortSignal.timeout(5_000));
    expect(await ended).toMatchObject({ code: 14 });
    expect(serving.observer.connections).toBe(0);
  });

  test('edge 127: HTTP/1.1 on the same port', async () => {
    await using serving = await startServing(serve);
    const answer = await fetch(`http://${serving.target}/version?q=1`);
    expect([answer.status, await answer.text()]).toEqual([200, 'GET /version 1 ']);
    const posted = await fetch(`http://${serving.target}/v3/kv/put`, { method: 'POST', body: '{"key":"Zm9v"}' });
    expect([posted.status, await posted.text()]).toEqual([404, 'POST /v3/kv/put null {"key":"Zm9v"}']);
  });

  test('a drain ends a unary call that waits for other clients, and its handler is told', async () => {
    const { waiting, methods } = waitingMethods();
    await using serving = await startServing(serve, { methods });
    using client = new ByteClient(serving.target);
    const ended = expect(client.unary('/test.Wait/Wait', 'a')).rejects.toMatchObject({
      code: 14,
      details: 'etcdserver: server stopped',
    });
    await until(() => waiting.length === 1);
    await serving.server.drain(new AbortController().signal);
    await ended;
    expect(waiting[0]!.signal.aborted).toBe(true);
    expect([serving.observer.handled, serving.observer.open]).toEqual([['Wait 14'], 0]);
  });

  test('a unary call that waited and works again finishes while the server drains', async () => {
    const { waiting, methods } = waitingMethods();
    await using serving = await startServing(serve, { methods });
    using client = new ByteClient(serving.target);
    const answer = client.unary('/test.Wait/Wait', 'a');
    await until(() => waiting.length === 1);
    waiting[0]!.work();
    const drained = serving.server.drain(AbortSignal.timeout(5_000));
    waiting[0]!.answer();
    expect((await answer).toString()).toBe('a');
    await drained;
  });

  test('a unary call that begins to wait while the server drains is ended', async () => {
    const { waiting, methods } = waitingMethods();
    await using serving = await startServing(serve, { methods });
    using client = new ByteClient(serving.target);
    const ended = expect(client.unary('/test.Wait/Wait', 'a')).rejects.toMatchObject({ code: 14 });
    await until(() => waiting.length === 1);
    waiting[0]!.work();
    const drained = serving.server.drain(new AbortController().signal);
    expect(waiting[0]!.signal.aborted).toBe(false);
    waiting[0]!.wait();
    await ended;
    expect(waiting[0]!.signal.aborted).toBe(true);
    await drained;
  });

  test('calls that wait for other clients keep no others from running, however long their requests were', async () => {
    const { waiting, methods } = waitingMethods();
    await using serving = await startServing(serve, { methods });
    using client = new ByteClient(serving.target);
    const calls = Array.from({ length: 34 }, () => client.start('/test.Wait/Wait', Buffer.alloc(1024 * 1024, 'x')));
    const ends = calls.map(({ answer }) => answer.catch(() => undefined));
    await until(() => waiting.length === calls.length);
    expect((await client.unary('/test.Wait/Echo', 'still served')).toString()).toBe('still served');
    for (const { cancel } of calls) cancel();
    await Promise.all(ends);
    await until(() => waiting.every(({ signal }) => signal.aborted));
    expect((await client.unary('/test.Wait/Echo', 'and now')).toString()).toBe('and now');
  });

  test('a drain does not wait for connections that wait for nothing', async () => {
    // The clock stands still, so no timeout would end this.
    await using serving = await startServing(serve, { clock: new SimClock() });
    const agent = new Agent({ keepAlive: true });
    const idle = await new Promise((resolve) => {
      get({ host: '127.0.0.1', port: serving.port, path: '/version', agent }, (response) => {
        response.resume().once('end', () => resolve('idle'));
      });
    });
    const silent = connect(serving.port, '127.0.0.1');
    await until(() => serving.observer.connections === 2);
    await serving.server.drain(new AbortController().signal);
    expect([idle, serving.observer.connections]).toEqual(['idle', 0]);
    silent.destroy();
    agent.destroy();
  });

  test('a unix socket serves both', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'engram-transport-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const path = join(folder, 'client.sock');
    await using serving = await startServing(serve, { listen: { kind: 'unix', path } });
    using client = new ByteClient(serving.target);
    expect((await client.unary('/test.Echo/Peer', '')).toString()).toBe(path);
    const status = await new Promise((resolve) => {
      httpRequest({ socketPath: path, path: '/version' }, (response) => resolve(response.resume().statusCode)).end();
    });
    expect(status).toBe(200);
  });

  test('protocols: a port that serves gRPC only cuts HTTP/1.1, and the other way round', async () => {
    await using grpcOnly = await startServing(serve, { protocols: 'grpc' });
    await using httpOnly = await startServing(serve, { protocols: 'http' });
    using first = new ByteClient(grpcOnly.target);
    using second = new ByteClient(httpOnly.target);
    await first.unary('/test.Echo/Sync', 'x');
    await expect(fetch(`http://${grpcOnly.target}/version`)).rejects.toThrow();
    expect((await fetch(`http://${httpOnly.target}/version`)).status).toBe(200);
    await expect(second.unary('/test.Echo/Sync', 'x')).rejects.toMatchObject({ code: 14 });
  });
});
