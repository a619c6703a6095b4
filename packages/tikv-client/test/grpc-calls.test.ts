import { gzipSync } from 'node:zlib';
import { GrpcCode } from '@engram/core';
import { ErrorCode, Flag, rstStreamFrame, SettingId, settingsFrame, windowUpdateFrame } from '@engram/http2';
import type { TransportError } from '@engram/tikv-client/testing';
import { describe, expect, test } from 'vitest';
import { ask, body, connected, Listener, streamMethod } from './support/raw-calls.ts';
import { frame, grpcMessage, type RawConnection, RawServer, uint32 } from './support/raw-server.ts';

const late = { grpc: GrpcCode.DEADLINE_EXCEEDED };

describe('a call', () => {
  test('sends the head and the message of gRPC, and has the answer', async () => {
    await using server = await RawServer.start();
    const { channel, peer } = await connected(server);
    const answer = channel.unary('/pdpb.PD/GetMembers', body('who'), {
      timeoutMs: 5_000,
      metadata: { 'x-trace': 'a-b' },
    });
    const { fields } = await peer.request(3);
    expect(fields).toMatchObject({
      ':method': 'POST',
      ':scheme': 'http',
      ':path': '/pdpb.PD/GetMembers',
      ':authority': server.address,
      te: 'trailers',
      'content-type': 'application/grpc',
      'x-trace': 'a-b',
    });
    const { payload, endStream } = await peer.frame((each) => each.type === 'DATA' && each.streamId === 3);
    expect(payload.equals(grpcMessage('who'))).toBe(true);
    expect(endStream).toBe(true);
    peer.write(peer.answer(3, 'me'));
    expect(Buffer.from(await answer).toString()).toBe('me');
    channel.close();
  });

  test.each([
    {
      name: 'a status',
      of: (peer: RawConnection) => peer.trailers(3, '9', 'no%20way%3A%20%E2%82%AC'),
      code: 9,
      text: 'no way: €',
    },
    {
      name: 'a status with a text that is no encoding',
      of: (peer: RawConnection) => peer.trailers(3, '9', '100%'),
      code: 9,
      text: '100%',
    },
    {
      name: 'a status that is none',
      of: (peer: RawConnection) => peer.trailers(3, 'x'),
      code: GrpcCode.UNKNOWN,
      text: '',
    },
    {
      name: 'no status',
      of: (peer: RawConnection) => Buffer.concat([peer.headers(3), peer.data(3, Buffer.alloc(0), true)]),
      code: GrpcCode.UNKNOWN,
      text: 'without a status',
    },
    {
      name: 'no answer',
      of: (peer: RawConnection) => Buffer.concat([peer.headers(3), peer.trailers(3)]),
      code: GrpcCode.INTERNAL,
      text: 'no answer',
    },
    {
      name: 'half an answer',
      of: (peer: RawConnection) =>
        Buffer.concat([peer.headers(3), peer.data(3, grpcMessage('half').subarray(0, 7)), peer.trailers(3)]),
      code: GrpcCode.INTERNAL,
      text: 'inside a message',
    },
    {
      name: 'two answers',
      of: (peer: RawConnection) =>
        Buffer.concat([
          peer.headers(3),
          peer.data(3, Buffer.concat([grpcMessage('1'), grpcMessage('2')])),
          peer.trailers(3),
        ]),
      code: GrpcCode.INTERNAL,
      text: 'second answer',
    },
    {
      name: 'the page of a proxy',
      of: (peer: RawConnection) =>
        Buffer.concat([peer.headers(3, { ':status': '503' }), peer.data(3, body('<html>'), true)]),
      code: GrpcCode.UNAVAILABLE,
      text: 'HTTP status 503',
    },
    {
      name: 'a malformed head',
      of: (peer: RawConnection) => peer.headers(3, { ':status': '200', 'X-Y': 'z' }),
      code: GrpcCode.INTERNAL,
      text: 'code 1',
    },
    {
      name: 'a body without a head',
      of: (peer: RawConnection) => peer.data(3, grpcMessage('x')),
      code: GrpcCode.INTERNAL,
      text: 'code 1',
    },
    {
      name: 'a second head',
      of: (peer: RawConnection) => Buffer.concat([peer.headers(3), peer.headers(3)]),
      code: GrpcCode.INTERNAL,
      text: 'code 1',
    },
    {
      name: 'a window update of nothing',
      of: () => frame('WINDOW_UPDATE', 0, 3, uint32(0)),
      code: GrpcCode.INTERNAL,
      text: 'code 1',
    },
    {
      name: 'a message above the bound',
      of: (peer: RawConnection) =>
        Buffer.concat([peer.headers(3), peer.data(3, Buffer.from([0, 0xff, 0xff, 0xff, 0xff]))]),
      code: GrpcCode.INTERNAL,
      text: '4294967295 bytes',
    },
    {
      name: 'REFUSED_STREAM',
      of: () => rstStreamFrame(3, ErrorCode.REFUSED_STREAM),
      code: GrpcCode.UNAVAILABLE,
      text: 'code 7',
    },
    { name: 'CANCEL', of: () => rstStreamFrame(3, ErrorCode.CANCEL), code: GrpcCode.CANCELLED, text: 'code 8' },
    {
      name: 'ENHANCE_YOUR_CALM',
      of: () => rstStreamFrame(3, ErrorCode.ENHANCE_YOUR_CALM),
      code: GrpcCode.RESOURCE_EXHAUSTED,
      text: 'code 11',
    },
    {
      name: 'INTERNAL_ERROR',
      of: () => rstStreamFrame(3, ErrorCode.INTERNAL_ERROR),
      code: GrpcCode.INTERNAL,
      text: 'code 2',
    },
  ])('ends with its code after $name, and the connection goes on', async ({ of, code, text }) => {
    await using server = await RawServer.start();
    const { channel, peer } = await connected(server);
    const asking = ask(channel);
    await peer.request(3);
    peer.write(of(peer));
    await expect(asking).rejects.toMatchObject({
      name: 'TransportError',
      grpc: code,
      message: expect.stringContaining(text),
    });
    const again = ask(channel);
    await peer.request(5);
    peer.write(peer.answer(5, 'well'));
    expect(await again).toBe('well');
    expect(server.connections.length).toBe(1);
    channel.close();
  });

  test('takes informational heads, padding, compression, and an answer of one-byte frames', async () => {
    await using server = await RawServer.start();
    const { channel, peer } = await connected(server);
    const asking = ask(channel);
    await peer.request(3);
    peer.write(peer.headers(3, { ':status': '103' }), peer.headers(3, { ':status': '200', 'grpc-encoding': 'gzip' }));
    for (const byte of grpcMessage(gzipSync('in small pieces'), 1)) {
      peer.write(frame('DATA', Flag.PADDED, 3, Buffer.from([2, byte, 0, 0])));
    }
    peer.write(peer.trailers(3));
    expect(await asking).toBe('in small pieces');
    channel.close();
  });

  test('that times out or is cancelled resets its stream, and what still comes of it is dropped', async () => {
    await using server = await RawServer.start();
    const { channel, peer } = await connected(server);
    await expect(ask(channel, 'late', 30)).rejects.toMatchObject(late);
    expect(await peer.reset(3)).toBe('CANCEL');
    const stop = new AbortController();
    const cancelled = channel.unary('/ask', body('x'), { timeoutMs: 5_000, signal: stop.signal });
    await peer.request(5);
    stop.abort();
    await expect(cancelled).rejects.toMatchObject({ grpc: GrpcCode.CANCELLED });
    expect(await peer.reset(5)).toBe('CANCEL');
    await expect(channel.unary('/ask', body('x'), { timeoutMs: 5_000, signal: stop.signal })).rejects.toMatchObject({
      grpc: GrpcCode.CANCELLED,
    });
    peer.write(peer.answer(3, 'too late'), windowUpdateFrame(5, 9), rstStreamFrame(5, 0));
    const again = ask(channel);
    await peer.request(7);
    peer.write(peer.answer(7, 'in time'));
    expect(await again).toBe('in time');
    channel.close();
  });

  test('waits for its turn where the server takes one at a time', async () => {
    await using server = await RawServer.start();
    const { channel, peer } = await connected(server, [[SettingId.MAX_CONCURRENT_STREAMS, 1]]);
    const first = ask(channel, 'one');
    const second = ask(channel, 'two');
    const given = expect(ask(channel, 'given up', 20)).rejects.toMatchObject(late);
    await peer.body(3, 8);
    await given;
    await peer.settled();
    expect(peer.received.filter(({ type }) => type === 'HEADERS').length).toBe(2);
    peer.write(peer.answer(3, '1'));
    expect(await first).toBe('1');
    expect((await peer.body(5, 8)).subarray(5).toString()).toBe('two');
    peer.write(peer.answer(5, '2'));
    expect(await second).toBe('2');
    channel.close();
  });
});

describe('a stream', () => {
  test('carries messages both ways until the server ends it', async () => {
    await using server = await RawServer.start();
    const { channel, peer } = await connected(server);
    const listener = new Listener(channel);
    listener.stream.write(body('ping'));
    expect((await peer.body(3, 9)).equals(grpcMessage('ping'))).toBe(true);
    peer.write(peer.headers(3), peer.data(3, Buffer.concat([grpcMessage('a'), grpcMessage('b')])));
    await listener.until(() => listener.messages.length === 2);
    expect(listener.messages).toEqual(['a', 'b']);
    peer.write(peer.trailers(3));
    expect(await listener.ended()).toMatchObject({ grpc: GrpcCode.UNAVAILABLE });
    expect(await peer.reset(3)).toBe('NO_ERROR');
    listener.stream.write(body('into nothing'));
    listener.stream.cancel();
    await peer.settled();
    expect((await peer.body(3, 9)).length).toBe(9);
    channel.close();
  });

  test('that its receiver cancels in the middle of a frame gives nothing more', async () => {
    await using server = await RawServer.start();
    const { channel, peer } = await connected(server);
    const messages: string[] = [];
    const ends: TransportError[] = [];
    const stream = channel.stream(streamMethod, {
      message: (bytes) => {
        messages.push(Buffer.from(bytes).toString());
        stream.cancel();
      },
      end: (error) => ends.push(error),
    });
    await peer.request(3);
    peer.write(peer.headers(3), peer.data(3, Buffer.concat([grpcMessage('a'), grpcMessage('b')]), true));
    expect(await peer.reset(3)).toBe('CANCEL');
    await peer.settled();
    expect(messages).toEqual(['a']);
    expect(ends).toMatchObject([{ grpc: GrpcCode.CANCELLED }]);
    channel.close();
  });

  test('opens its windows as it is read: more comes than they hold', async () => {
    await using server = await RawServer.start();
    const { channel, peer } = await connected(server);
    let bytes = 0;
    const whole = new Promise<void>((resolve) => {
      channel.stream(streamMethod, {
        message: (message) => {
          bytes += message.length;
          if (bytes === 40 << 20) resolve();
        },
        end: () => {},
      });
    });
    await peer.request(3);
    peer.write(peer.headers(3));
    const piece = Buffer.alloc(16_384, 7);
    const message = grpcMessage(Buffer.alloc(10 << 20, 7));
    // A server that keeps to the windows: those of the settings, and what the client gives back.
    let sent = 0;
    const windowOf = (streamId: number, initial: number): number =>
      peer.received
        .filter((each) => each.type === 'WINDOW_UPDATE' && each.streamId === streamId)
        .reduce((sum, { payload }) => sum + payload.readUInt32BE(0), initial);
    const total = message.length * 4;
    const settings = await peer.frame((each) => each.type === 'SETTINGS' && !each.ack);
    expect(settings.payload.toString('hex')).toContain(`0004${uint32(16 << 20).toString('hex')}`);
    while (sent < total) {
      const room = Math.min(windowOf(3, 16 << 20), windowOf(0, 65_535)) - sent;
      if (room < piece.length) {
        await peer.settled();
        continue;
      }
      const at = sent % message.length;
      const part = message.subarray(at, Math.min(message.length, at + piece.length));
      peer.write(peer.data(3, part));
      sent += part.length;
    }
    await whole;
    channel.close();
  });

  test('sends no more than the windows let through, and the rest as they open', async () => {
    await using server = await RawServer.start();
    const { channel, peer } = await connected(server, [[SettingId.INITIAL_WINDOW_SIZE, 10]]);
    const listener = new Listener(channel);
    const first = body('a'.repeat(30));
    listener.stream.write(first);
    listener.stream.write(body('b'.repeat(20)));
    await peer.body(3, 10);
    await peer.settled();
    expect((await peer.body(3, 10)).length).toBe(10);
    // A smaller window takes back what is not used: it is -5 now, and 0 after five more.
    peer.write(settingsFrame([[SettingId.INITIAL_WINDOW_SIZE, 5]]), windowUpdateFrame(3, 5));
    await peer.settled();
    expect((await peer.body(3, 10)).length).toBe(10);
    for (let bytes = 10; bytes < 60; bytes += 1) {
      peer.write(windowUpdateFrame(3, 1));
      await peer.body(3, bytes + 1);
      await peer.settled();
      expect((await peer.body(3, bytes + 1)).length).toBe(bytes + 1);
    }
    expect((await peer.body(3, 60)).equals(Buffer.concat([grpcMessage(first), grpcMessage('b'.repeat(20))]))).toBe(
      true,
    );
    listener.stream.cancel();
    expect(await peer.reset(3)).toBe('CANCEL');
    channel.close();
  });

  test('keeps to the window of the connection and to frames of 16 KiB, where its own window is wide open', async () => {
    await using server = await RawServer.start();
    const { channel, peer } = await connected(server, [[SettingId.INITIAL_WINDOW_SIZE, 1 << 20]]);
    const { stream } = new Listener(channel);
    const messages = ['a'.repeat(20_000), ...Array.from({ length: 10 }, (_, at) => String(at).repeat(10_000))];
    for (const message of messages) stream.write(body(message));
    await peer.body(3, 65_525);
    await peer.settled();
    expect((await peer.body(3, 65_525)).length).toBe(65_525);
    peer.write(windowUpdateFrame(0, 100_000));
    const whole = Buffer.concat(messages.map((message) => grpcMessage(message)));
    expect((await peer.body(3, whole.length)).equals(whole)).toBe(true);
    const frames = peer.received.filter((each) => each.type === 'DATA' && each.streamId === 3);
    expect(Math.max(...frames.map(({ payload }) => payload.length))).toBe(16_384);
    channel.close();
  });

  test.each([
    { name: 'its own', bytes: 65_535 },
    { name: 'that of the connection', bytes: 1 << 20 },
  ])('does not hold others up where a window never opens: $name', async ({ bytes }) => {
    await using server = await RawServer.start();
    const { channel, peer } = await connected(server, [[SettingId.INITIAL_WINDOW_SIZE, bytes]]);
    const stuck = expect(ask(channel, 's'.repeat(200_000), 400)).rejects.toMatchObject(late);
    const other = ask(channel, 'o'.repeat(65_000));
    // What the first sends uses up the connection's window, of which the call before it has taken 10 bytes.
    expect((await peer.body(3, 65_525)).length).toBe(65_525);
    peer.write(windowUpdateFrame(0, 140_000));
    expect((await peer.body(5, 65_005)).length).toBe(65_005);
    peer.write(peer.answer(5, 'done'));
    expect(await other).toBe('done');
    await stuck;
    expect(await peer.reset(3)).toBe('CANCEL');
    // What it has not sent by then is forgotten.
    const sent = (await peer.body(3, 65_525)).length;
    peer.write(windowUpdateFrame(0, 500_000));
    await peer.settled();
    expect((await peer.body(3, 65_525)).length).toBe(sent);
    channel.close();
  });

  test('says how much of a stream the windows keep back', async () => {
    await using server = await RawServer.start();
    const { channel, peer } = await connected(server, [[SettingId.INITIAL_WINDOW_SIZE, 1000]]);
    const stream = channel.stream('/S/Stream', { message: () => {}, end: () => {} });
    expect(stream.waitingBytes).toBe(0);
    stream.write(Buffer.alloc(5000));
    expect(stream.waitingBytes).toBe(4005);
    peer.write(windowUpdateFrame(3, 4000));
    await peer.body(3, 5000);
    expect(stream.waitingBytes).toBe(5);
    channel.close();
    expect(stream.waitingBytes).toBe(0);
  });

  test('of a large message leaves frame by frame, each within the bound of the server', async () => {
    await using server = await RawServer.start();
    const { channel, peer } = await connected(server, [
      [SettingId.INITIAL_WINDOW_SIZE, 2 ** 31 - 1],
      [SettingId.MAX_FRAME_SIZE, 20_000],
    ]);
    peer.write(windowUpdateFrame(0, 2 ** 30));
    const message = Buffer.alloc(3 << 20, '0123456789');
    const asking = ask(channel, message.toString());
    const got = await peer.body(3, message.length + 5);
    expect(got.equals(grpcMessage(message))).toBe(true);
    const frames = peer.received.filter((each) => each.type === 'DATA' && each.streamId === 3);
    expect(Math.max(...frames.map(({ payload }) => payload.length))).toBe(20_000);
    expect(frames.map(({ endStream }) => endStream).indexOf(true)).toBe(frames.length - 1);
    peer.write(peer.answer(3, 'taken'));
    expect(await asking).toBe('taken');
    channel.close();
  });
});
