import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { GrpcCode } from '@engram/core';
import {
  ErrorCode,
  Flag,
  FRAME_HEADER_BYTES,
  goAwayFrame,
  headersFrames,
  Http2Error,
  LARGEST_STREAM_ID,
  SettingId,
  settingsFrame,
  windowUpdateFrame,
} from '@engram/http2';
import { GrpcTransport } from '@engram/tikv-client/testing';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { ClientConnection } from '../src/http2/client-connection.ts';
import type { StreamEnd } from '../src/http2/client-stream.ts';
import { ask, connected, Listener } from './support/raw-calls.ts';
import { frame, grpcMessage, type RawConnection, RawServer, uint32 } from './support/raw-server.ts';

afterEach(() => void vi.useRealTimers());

describe('a connection', () => {
  test('that the server leaves finishes the calls that it has taken, and further ones get another', async () => {
    await using server = await RawServer.start();
    const { channel, peer } = await connected(server);
    const taken = ask(channel, 'taken');
    const refused = ask(channel, 'refused');
    await peer.request(5);
    peer.write(goAwayFrame(3, ErrorCode.NO_ERROR, 'maintenance'));
    await expect(refused).rejects.toMatchObject({ grpc: GrpcCode.UNAVAILABLE });
    const later = ask(channel, 'later');
    const other = await server.connection(1);
    other.begin();
    await other.request(1);
    other.write(other.answer(1, 'from the other'));
    expect(await later).toBe('from the other');
    peer.write(peer.answer(3, 'from the first'));
    expect(await taken).toBe('from the first');
    await peer.untilClosed();
    expect(other.closed).toBe(false);
    channel.close();
    await other.untilClosed();
  });

  test('that is lost ends its calls and streams, and the next call makes another', async () => {
    await using server = await RawServer.start();
    const { channel, peer } = await connected(server);
    const listener = new Listener(channel);
    const asking = ask(channel);
    await peer.request(5);
    peer.socket.destroy();
    const dropped = { grpc: GrpcCode.UNAVAILABLE, message: expect.stringContaining('Connection dropped') };
    expect(await listener.ended()).toMatchObject(dropped);
    await expect(asking).rejects.toMatchObject(dropped);
    const again = ask(channel);
    const other = await server.connection(1);
    other.begin();
    await other.request(1);
    other.write(other.answer(1, 'again'));
    expect(await again).toBe('again');
    channel.close();
  });

  test.each([
    {
      name: 'a frame of a stream that was never opened',
      bytes: (peer: RawConnection) => peer.data(9, grpcMessage('x')),
      code: 'PROTOCOL_ERROR',
    },
    {
      name: 'a frame of a stream of the server',
      bytes: (peer: RawConnection) => peer.headers(2),
      code: 'PROTOCOL_ERROR',
    },
    {
      name: 'a frame above the bound',
      bytes: () => frame('DATA', 0, 3, Buffer.alloc(16_385)),
      code: 'FRAME_SIZE_ERROR',
    },
    { name: 'a window above the bound', bytes: () => windowUpdateFrame(0, 2 ** 31 - 1), code: 'FLOW_CONTROL_ERROR' },
    {
      name: 'a window update of nothing',
      bytes: () => frame('WINDOW_UPDATE', 0, 0, uint32(0)),
      code: 'PROTOCOL_ERROR',
    },
    {
      name: 'settings that are out of bounds',
      bytes: () => settingsFrame([[SettingId.MAX_FRAME_SIZE, 1]]),
      code: 'PROTOCOL_ERROR',
    },
    {
      name: 'a damaged header block',
      bytes: () => headersFrames(3, Buffer.from([0xff]), false, 100),
      code: 'COMPRESSION_ERROR',
    },
  ])('ends at $name, and says why', async ({ bytes, code }) => {
    await using server = await RawServer.start();
    const { channel, peer } = await connected(server);
    const listener = new Listener(channel);
    await peer.request(3);
    peer.write(bytes(peer));
    const error = await listener.ended();
    expect(error).toMatchObject({ grpc: GrpcCode.UNAVAILABLE });
    expect(error.cause).toBeInstanceOf(Http2Error);
    expect(await peer.goAway()).toBe(code);
    await peer.untilClosed();
    channel.close();
  });

  test('that the server leaves opens no stream that has waited', async () => {
    await using server = await RawServer.start();
    const { channel, peer } = await connected(server, [[SettingId.MAX_CONCURRENT_STREAMS, 2]]);
    const taken = ask(channel, 'taken');
    const refused = [ask(channel, 'not taken'), ask(channel, 'waits'), ask(channel, 'waits as well')];
    await peer.request(5);
    peer.write(goAwayFrame(3, ErrorCode.NO_ERROR, 'maintenance'));
    for (const asking of refused) await expect(asking).rejects.toMatchObject({ grpc: GrpcCode.UNAVAILABLE });
    peer.write(peer.answer(3, 'yes'));
    expect(await taken).toBe('yes');
    await peer.untilClosed();
    const opened = peer.received.filter(({ type }) => type === 'HEADERS');
    expect(opened.map(({ streamId }) => streamId)).toEqual([1, 3, 5]);
    channel.close();
  });

  test('that comes to its last ids takes no more streams than those, and serves all that it took', async () => {
    await using server = await RawServer.start();
    let usable = true;
    const unusable = (): void => {
      usable = false;
    };
    const firstId = LARGEST_STREAM_ID - 4;
    const connection = new ClientConnection({ address: server.address, tls: undefined, unusable, firstId });
    const ends: StreamEnd[] = [];
    for (let streams = 1; streams <= 3; streams += 1) {
      expect(usable).toBe(true);
      const stream = connection.open([], { head() {}, data() {}, end: (end) => ends.push(end) });
      stream.send(Buffer.alloc(FRAME_HEADER_BYTES + 1), true);
    }
    expect([usable, connection.usable]).toEqual([false, false]);
    const peer = await server.connection();
    peer.begin([[SettingId.MAX_CONCURRENT_STREAMS, 1]]);
    for (const id of [firstId, firstId + 2, firstId + 4]) {
      await peer.request(id);
      peer.write(peer.answer(id, 'served'));
    }
    await peer.untilClosed();
    expect(ends.map(({ kind }) => kind)).toEqual(['complete', 'complete', 'complete']);
  });

  test('that is silent is sent a ping, and is lost if it does not answer in three seconds', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    await using server = await RawServer.start();
    const { channel, peer } = await connected(server);
    const listener = new Listener(channel);
    await peer.request(3);
    const pings = (): number => peer.received.filter(({ type, ack }) => type === 'PING' && !ack).length;
    for (let answered = 0; answered < 3; answered += 1) {
      vi.advanceTimersByTime(9_999);
      await peer.settled();
      expect(pings()).toBe(answered);
      // Silent from here on.
      vi.advanceTimersByTime(10_000);
      await peer.frame(() => pings() > answered);
      peer.write(frame('PING', Flag.ACK, 0, Buffer.alloc(8)));
      await peer.settled();
    }
    vi.advanceTimersByTime(10_000);
    await peer.frame(() => pings() > 3);
    vi.advanceTimersByTime(2_999);
    expect(listener.error).toBeUndefined();
    vi.advanceTimersByTime(1);
    expect(listener.error).toMatchObject({ grpc: GrpcCode.UNAVAILABLE, message: expect.stringContaining('ping') });
    await peer.untilClosed();
    channel.close();
  });

  test('that sends other bytes is not sent a ping, nor one without calls', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    await using server = await RawServer.start();
    const { channel, peer } = await connected(server);
    vi.advanceTimersByTime(60_000);
    await peer.settled();
    const listener = new Listener(channel);
    await peer.request(3);
    for (let second = 0; second < 30; second += 1) {
      vi.advanceTimersByTime(1_000);
      await peer.settled();
    }
    expect(peer.received.filter(({ type, ack }) => type === 'PING' && !ack)).toEqual([]);
    expect(listener.error).toBeUndefined();
    channel.close();
  });

  test('that takes no streams is sent a ping for those that wait, and is lost if it does not answer', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    await using server = await RawServer.start();
    const { channel, peer } = await connected(server);
    peer.write(settingsFrame([[SettingId.MAX_CONCURRENT_STREAMS, 0]]));
    await peer.settled();
    const listener = new Listener(channel);
    vi.advanceTimersByTime(20_000);
    await peer.frame(({ type, ack }) => type === 'PING' && !ack);
    vi.advanceTimersByTime(3_000);
    expect(await listener.ended()).toMatchObject({ message: expect.stringContaining('ping') });
    await peer.untilClosed();
    channel.close();
  });

  test('answers pings and settings', async () => {
    await using server = await RawServer.start();
    const { channel, peer } = await connected(server);
    peer.write(settingsFrame([]));
    await peer.settled();
    expect(peer.received.filter(({ type, ack }) => type === 'SETTINGS' && ack).length).toBe(2);
    channel.close();
  });

  test('ends where the server sends pings without end and reads no answers', async () => {
    await using server = await RawServer.start();
    const { channel, peer } = await connected(server);
    const listener = new Listener(channel);
    await peer.request(3);
    peer.socket.pause();
    const pings = Buffer.concat(Array.from({ length: 4_096 }, () => frame('PING', 0, 0, Buffer.alloc(8))));
    while (listener.error === undefined)
      await new Promise<void>((resolve) => peer.socket.write(pings, () => resolve()));
    expect(listener.error).toMatchObject({
      grpc: GrpcCode.UNAVAILABLE,
      message: expect.stringContaining('reads nothing'),
    });
    channel.close();
  });

  test('of a channel that closes says good bye, and its calls fail', async () => {
    await using server = await RawServer.start();
    const { channel, peer } = await connected(server);
    const listener = new Listener(channel);
    const asking = ask(channel);
    await peer.request(5);
    channel.close();
    channel.close();
    expect(listener.error).toMatchObject({ grpc: GrpcCode.UNAVAILABLE });
    await expect(asking).rejects.toMatchObject({ grpc: GrpcCode.UNAVAILABLE, message: 'the channel is closed' });
    expect(await peer.goAway()).toBe('NO_ERROR');
    await peer.untilClosed();
    await expect(ask(channel)).rejects.toMatchObject({ grpc: GrpcCode.UNAVAILABLE });
    expect(await new Listener(channel).ended()).toMatchObject({ grpc: GrpcCode.UNAVAILABLE });
    expect(server.connections.length).toBe(1);
  });
});

describe('no connection', () => {
  const none = {
    grpc: GrpcCode.UNAVAILABLE,
    message: expect.stringMatching(/^No connection established\. Last error: ./),
  };

  test('where nobody listens, at an address and at a name with several', async () => {
    const server = await RawServer.start();
    const { address } = server;
    await server[Symbol.asyncDispose]();
    for (const at of [address, address.replace('127.0.0.1', 'localhost')]) {
      const channel = new GrpcTransport(undefined).connect(at, false);
      await expect(ask(channel)).rejects.toMatchObject({ ...none, cause: expect.any(Error) });
      await expect(ask(channel)).rejects.toThrow('ECONNREFUSED');
      channel.close();
    }
  });

  test.each(['127.0.0.1', '127.0.0.1:0x', '127.0.0.1:99999', ''])('to what is no address: %j', async (address) => {
    const channel = new GrpcTransport(undefined).connect(address, false);
    expect(await new Listener(channel).ended()).toMatchObject(none);
    await expect(ask(channel)).rejects.toMatchObject(none);
    channel.close();
  });

  test('to a server of another protocol, or one that leaves before its settings', async () => {
    await using server = await RawServer.start();
    const channel = new GrpcTransport(undefined).connect(server.address, false);
    const first = ask(channel);
    (await server.connection(0)).write(Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'));
    await expect(first).rejects.toMatchObject(none);
    const second = ask(channel);
    const peer = await server.connection(1);
    peer.socket.destroy();
    await expect(second).rejects.toMatchObject(none);
    channel.close();
  });

  test('to a server that sends no settings for twenty seconds', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    await using server = await RawServer.start();
    const channel = new GrpcTransport(undefined).connect(server.address, false);
    const listener = new Listener(channel);
    await (await server.connection()).frame((each) => each.type === 'SETTINGS');
    vi.advanceTimersByTime(19_999);
    expect(listener.error).toBeUndefined();
    vi.advanceTimersByTime(1);
    expect(listener.error).toMatchObject(none);
    channel.close();
  });

  test('to a server without settings: nothing of the call is sent before them', async () => {
    await using server = await RawServer.start();
    const channel = new GrpcTransport(undefined).connect(server.address, false);
    const asking = ask(channel);
    const peer = await server.connection();
    await peer.frame((each) => each.type === 'WINDOW_UPDATE');
    expect(peer.received.map(({ type }) => type)).toEqual(['SETTINGS', 'WINDOW_UPDATE']);
    peer.begin();
    await peer.request(1);
    peer.write(peer.answer(1, 'then'));
    expect(await asking).toBe('then');
    channel.close();
  });
});

test('an idle connection does not keep the process alive', async () => {
  await using server = await RawServer.start();
  const program = `
    import { GrpcTransport } from '@engram/tikv-client/testing';
    const channel = new GrpcTransport(undefined).connect('${server.address}', false);
    await channel.unary('/ask', new Uint8Array(1), { timeoutMs: 60_000 });`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    cwd: join(import.meta.dirname, '..'),
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const running = new Promise<number | null>((resolve) => child.once('close', resolve));
  const peer = await server.connection();
  peer.begin();
  await peer.request(1);
  peer.write(peer.answer(1, 'x'));
  expect(await running).toBe(0);
  expect(peer.received.some(({ type }) => type === 'GOAWAY')).toBe(false);
});
