import fc from 'fast-check';
import { expect, test } from 'vitest';
import { serve } from '@engram/transport';
import { Flag } from '@engram/http2';
import { startServing, until } from './support/serving.ts';
import { frame, grpcHeaders, grpcMessage, RawClient } from './support/raw-client.ts';

const sync = '/test.Echo/Sync';

// grpc-go's exact answers (internal/transport/http2_server.go, server.go, rpc_util.go).
test.each([
  { changes: {}, outcome: 'grpc-status: 0', why: 'a request' },
  { changes: { 'content-type': 'application/grpc+proto' }, outcome: 'grpc-status: 0', why: 'a subtype' },
  { changes: { 'content-type': 'application/grpc;charset=utf-8' }, outcome: 'grpc-status: 0', why: 'a parameter' },
  { changes: { te: undefined }, outcome: 'grpc-status: 0', why: 'te is not asked for' },
  { changes: { 'grpc-encoding': 'identity' }, outcome: 'grpc-status: 0', why: 'identity is no compression' },
  { changes: { ':authority': undefined, host: 'h' }, outcome: 'grpc-status: 0', why: 'host stands in for :authority' },
  {
    changes: { 'grpc-encoding': 'snappy' },
    outcome:
      ':status: 200, grpc-status: 12, grpc-message: grpc: Decompressor is not installed for grpc-encoding "snappy"',
    why: 'gzip is the one that is installed',
  },
  {
    changes: { ':path': '/test.Echo/Other' },
    outcome: ':status: 200, grpc-status: 12, grpc-message: unknown method Other for service test.Echo',
    why: 'a known service',
  },
  {
    changes: { ':path': '/test.Nobody/Other' },
    outcome: ':status: 200, grpc-status: 12, grpc-message: unknown service test.Nobody',
    why: 'an unknown service',
  },
  {
    changes: { ':path': 'odd' },
    outcome: ':status: 200, grpc-status: 12, grpc-message: malformed method name: "odd"',
    why: 'no path at all',
  },
  {
    changes: { ':method': 'GET' },
    outcome:
      ':status: 405, grpc-status: 13, grpc-message: Received a HEADERS frame with :method "GET" which should be POST',
    why: 'gRPC is POST',
  },
  {
    changes: { 'grpc-timeout': '1x' },
    outcome:
      ':status: 400, grpc-status: 13, grpc-message: malformed grpc-timeout: transport: timeout unit is not recognized: "1x"',
    why: 'an unknown unit',
  },
  {
    changes: { 'grpc-timeout': '' },
    outcome:
      ':status: 400, grpc-status: 13, grpc-message: malformed grpc-timeout: transport: timeout string is too short: ""',
    why: 'no number and no unit',
  },
  {
    changes: { 'grpc-timeout': '-1S' },
    outcome:
      ':status: 400, grpc-status: 13, grpc-message: malformed grpc-timeout: strconv.ParseUint: parsing "-1": invalid syntax',
    why: 'digits and nothing else',
  },
  {
    changes: { 'x-bin': 'AAEC==' },
    outcome:
      ':status: 400, grpc-status: 13, grpc-message: malformed binary metadata "AAEC==" in header "x-bin": illegal base64 data at input byte 4',
    why: 'binary metadata is base64',
  },
  { changes: { 'x-bin': 'AAE' }, outcome: 'grpc-status: 0', why: 'base64 without its padding' },
  {
    changes: { ':authority': undefined },
    outcome: ':status: 400, grpc-status: 13, grpc-message: no host or :authority header present',
    why: 'a request says whom it means',
  },
  {
    changes: { 'grpc-timeout': '0n' },
    outcome: ':status: 200, grpc-status: 4, grpc-message: context deadline exceeded',
    why: 'no time left',
  },
  { changes: { connection: 'close' }, outcome: 'RST_STREAM PROTOCOL_ERROR', why: 'a header of HTTP/1.1 connections' },
  { changes: { te: 'gzip' }, outcome: 'RST_STREAM PROTOCOL_ERROR', why: 'te is trailers or nothing' },
  { changes: { Upper: 'x' }, outcome: 'RST_STREAM PROTOCOL_ERROR', why: 'names are in lower case' },
  { changes: { ':path': undefined }, outcome: 'RST_STREAM PROTOCOL_ERROR', why: 'a pseudo-header is missing' },
  { changes: { ':odd': 'x' }, outcome: 'RST_STREAM PROTOCOL_ERROR', why: 'an unknown pseudo-header' },
  { changes: { 'content-length': '3' }, outcome: 'grpc-status: 0', why: 'content-length is not true, as in etcd' },
  { changes: { 'x-note': 'a\tb ' }, outcome: 'grpc-status: 0', why: 'a tab, and a blank at the end' },
  { changes: { 'x-note': 'a\x01b' }, outcome: 'RST_STREAM PROTOCOL_ERROR', why: 'a control character' },
  { changes: { 'x-note': 'a\x7fb' }, outcome: 'RST_STREAM PROTOCOL_ERROR', why: 'another one' },
  {
    changes: { 'grpc-timeout': ' 5S' },
    outcome:
      ':status: 400, grpc-status: 13, grpc-message: malformed grpc-timeout: strconv.ParseUint: parsing " 5": invalid syntax',
    why: 'a blank is no digit',
  },
  { changes: { 'content-length': '7' }, outcome: 'grpc-status: 0', why: 'content-length is true' },
])('$changes: $why', async ({ changes, outcome }) => {
  await using serving = await startServing(serve);
  using client = await RawClient.open(serving.port);
  client.write(client.request(1, sync, 'hi', changes));
  expect(await client.outcome(1)).toBe(outcome);
});

test.each([
  {
    body: grpcMessage('x', 1),
    outcome: 'grpc-status: 13, grpc-message: grpc: compressed flag set with identity or empty encoding',
  },
  { body: grpcMessage('x', 7), outcome: 'grpc-status: 13, grpc-message: grpc: received unexpected payload format 7' },
  {
    body: Buffer.from('00ffffffff', 'hex'),
    outcome: 'grpc-status: 8, grpc-message: grpc: received message larger than max (4294967295 vs. 2097152)',
  },
  { body: Buffer.alloc(0), outcome: 'grpc-status: 2, grpc-message: EOF' },
  { body: Buffer.from('0000', 'hex'), outcome: 'grpc-status: 2, grpc-message: EOF' },
  { body: grpcMessage('x').subarray(0, 5), outcome: 'grpc-status: 2, grpc-message: unexpected EOF' },
])('$outcome', async ({ body, outcome }) => {
  await using serving = await startServing(serve);
  using client = await RawClient.open(serving.port);
  client.write(client.headers(1, grpcHeaders(sync)), client.data(1, body, true));
  expect(await client.outcome(1)).toBe(`:status: 200, ${outcome}`);
  // the connection stays usable
  client.write(client.request(3, sync, 'again'));
  expect(await client.outcome(3)).toBe('grpc-status: 0');
});

const cardinality = 'grpc-status: 13, grpc-message: cardinality violation: received';
test.each([
  { path: sync, more: grpcMessage('y'), outcome: 'grpc-status: 0', why: 'nobody looks behind a unary message' },
  { path: sync, more: grpcMessage('y').subarray(0, 3), outcome: 'grpc-status: 0', why: 'nor at a part of one' },
  { path: sync, more: Buffer.from('07ffffffff', 'hex'), outcome: 'grpc-status: 0', why: 'nor at what is none' },
  { path: '/test.Echo/Count', more: grpcMessage('y').subarray(0, 4), outcome: 'grpc-status: 0', why: 'a part is none' },
  {
    path: '/test.Echo/Count',
    more: grpcMessage('y'),
    outcome: `:status: 200, ${cardinality} multiple request messages for non-client-streaming RPC`,
    why: 'a server stream has one message',
  },
  {
    path: '/test.Echo/Bidi',
    more: Buffer.from([0, 0]),
    outcome: 'grpc-status: 0',
    why: 'a stream may end in a prefix',
  },
  {
    path: '/test.Echo/Bidi',
    more: grpcMessage('y').subarray(0, 5),
    outcome: 'grpc-status: 13, grpc-message: unexpected EOF',
    why: 'but not in a message',
  },
])('$path, a message and more: $why', async ({ path, more, outcome }) => {
  await using serving = await startServing(serve);
  using client = await RawClient.open(serving.port);
  client.write(client.headers(1, grpcHeaders(path)), client.data(1, Buffer.concat([grpcMessage('1'), more]), true));
  expect(await client.outcome(1)).toBe(outcome);
});

test('a server stream without its message', async () => {
  await using serving = await startServing(serve);
  using client = await RawClient.open(serving.port);
  client.write(client.headers(1, grpcHeaders('/test.Echo/Count'), true));
  expect(await client.outcome(1)).toBe(`:status: 200, ${cardinality} no request message from non-client-streaming RPC`);
});

test.each([
  { asked: 'application/grpc', answered: 'application/grpc' },
  { asked: 'application/grpc+proto', answered: 'application/grpc+proto' },
  { asked: 'application/grpc;charset=utf-8', answered: 'application/grpc+charset=utf-8' },
  { asked: 'application/grpc+', answered: 'application/grpc' },
])('$asked is answered as $answered', async ({ asked, answered }) => {
  await using serving = await startServing(serve);
  using client = await RawClient.open(serving.port);
  for (const [at, path] of [sync, '/test.Echo/Bidi', '/test.Nobody/Here', '/test.Echo/Refuse'].entries()) {
    const streamId = 2 * at + 1;
    client.write(client.request(streamId, path, 'x', { 'content-type': asked }));
    const head = await client.frame((next) => next.type === 'HEADERS' && next.streamId === streamId);
    expect(head.fields).toContain(`content-type: ${answered}`);
  }
});

test('the trailers of a call that succeeded have a message, too, as in grpc-go', async () => {
  await using serving = await startServing(serve);
  using client = await RawClient.open(serving.port);
  for (const id of [1, 3, 5]) {
    client.write(client.request(id, sync, 'hi'));
    await client.outcome(id);
    const trailers = client.received.find(
      ({ type, streamId, endStream }) => type === 'HEADERS' && streamId === id && endStream,
    );
    expect(trailers?.fields).toEqual(['grpc-status: 0', 'grpc-message: ']);
  }
});

test('a pseudo-header behind an empty one of its name is one too many', async () => {
  await using serving = await startServing(serve);
  using client = await RawClient.open(serving.port);
  const fields = [
    [':method', 'POST'],
    [':scheme', 'http'],
    [':path', ''],
    [':path', sync],
    [':authority', 'h'],
    ['content-type', 'application/grpc'],
  ].map(([name = '', value = '']) => ({ name, value, indexing: 'once' as const }));
  client.write(client.headersOf(1, client.encoder.encode(fields), false), client.data(1, grpcMessage('hi'), true));
  expect(await client.outcome(1)).toBe('RST_STREAM PROTOCOL_ERROR');
});

test("what is not gRPC is refused in gRPC's form, a plain request with a body too", async () => {
  await using serving = await startServing(serve);
  using client = await RawClient.open(serving.port);
  client.write(
    client.headers(1, { ':method': 'GET', ':scheme': 'http', ':path': '/version', ':authority': 'h' }, true),
  );
  await client.outcome(1);
  const [head, ...body] = client.received.filter(({ streamId }) => streamId === 1);
  expect(Buffer.concat(body.map(({ payload }) => payload)).toString()).toBe('invalid gRPC request content-type ""\n');
  expect(body.at(-1)).toMatchObject({ type: 'DATA', endStream: true });
  expect(head?.fields).toEqual([
    ':status: 415',
    'content-type: application/grpc',
    'grpc-status: 3',
    'grpc-message: invalid gRPC request content-type ""',
  ]);
  client.write(client.request(3, sync, 'hi', { 'content-type': 'application/json' }));
  const asGrpc = ':status: 415, grpc-status: 3, grpc-message: invalid gRPC request content-type "application/json"';
  expect(await client.outcome(3)).toBe(asGrpc);
});

test('a refused call that the client goes on with is cut without an error', async () => {
  await using serving = await startServing(serve);
  using client = await RawClient.open(serving.port);
  client.write(client.headers(1, grpcHeaders('/test.Nobody/Here')));
  await client.frame(({ type, streamId }) => type === 'RST_STREAM' && streamId === 1);
  expect(await client.outcome(1)).toMatch(/^:status: 200, grpc-status: 12/);
  client.write(client.data(1, grpcMessage('late')), client.headers(1, { 'late-trailer': 'x' }, true));
  client.write(client.request(3, sync, 'again'));
  expect(await client.outcome(3)).toBe('grpc-status: 0');
});

test('padding is not part of a message, and is given back', async () => {
  await using serving = await startServing(serve);
  using client = await RawClient.open(serving.port);
  const padded = (flags: number, body: Buffer): Buffer =>
    frame('DATA', Flag.PADDED | flags, 1, Buffer.concat([Buffer.from([200]), body, Buffer.alloc(200)]));
  client.write(client.headers(1, grpcHeaders(sync)), padded(0, grpcMessage('hi').subarray(0, 6)));
  client.write(padded(Flag.END_STREAM, Buffer.from('i')));
  expect(await client.outcome(1)).toBe('grpc-status: 0');
  expect(client.body(1)).toEqual(grpcMessage('hi'));
  const given = client.received.filter(({ type, streamId }) => type === 'WINDOW_UPDATE' && streamId === 1);
  expect(given[0]?.payload.readUInt32BE()).toBe(201);
});

test('messages come out whole and in order, however DATA is cut', async () => {
  await using serving = await startServing(serve);
  using client = await RawClient.open(serving.port);
  let streamId = -1;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ maxLength: 40 }), { maxLength: 8 }),
      fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 5 }),
      async (messages, cuts) => {
        streamId += 2;
        const bytes = Buffer.concat(messages.map((message) => grpcMessage(message)));
        client.write(client.headers(streamId, grpcHeaders('/test.Echo/Bidi')));
        for (let at = 0, cut = 0; at < bytes.length; cut += 1) {
          const size = cuts[cut % cuts.length]!;
          client.write(client.data(streamId, bytes.subarray(at, at + size)));
          at += size;
        }
        client.write(client.data(streamId, Buffer.alloc(0), true));
        expect(await client.outcome(streamId)).toMatch(/grpc-status: 0/);
        expect(client.body(streamId).equals(bytes)).toBe(true);
      },
    ),
    { numRuns: 60 },
  );
});

test('equal header blocks are one request head, until the table changes', async () => {
  await using serving = await startServing(serve);
  using client = await RawClient.open(serving.port);
  // Index 62 refers to another path after the second field was added.
  const block = (...fields: (readonly [string, string])[]): Buffer =>
    client.encoder.encode(fields.map(([name, value]) => ({ name, value, indexing: 'remember' })));
  const common = [
    [':method', 'POST'],
    [':scheme', 'http'],
    [':authority', 'h'],
    ['content-type', 'application/grpc'],
  ] as const;
  const call = (streamId: number, path: string): void => {
    const headers = frame('HEADERS', Flag.END_HEADERS, streamId, block([':path', path], ...common));
    client.write(headers, client.data(streamId, grpcMessage(`${streamId}`), true));
  };
  const paths = [sync, sync, '/test.Echo/Pieces', '/test.Echo/Pieces', sync, '/test.Echo/Pieces'];
  for (const [at, path] of paths.entries()) call(2 * at + 1, path);
  for (const [at, path] of paths.entries()) {
    const streamId = 2 * at + 1;
    expect(await client.outcome(streamId)).toBe('grpc-status: 0');
    expect(client.body(streamId).toString('latin1', 5)).toBe(path === sync ? `${streamId}` : `<${streamId}>`);
  }
});

test('metadata is text, one character for each byte; binary metadata is not shown', async () => {
  await using serving = await startServing(serve);
  using client = await RawClient.open(serving.port);
  client.write(client.request(1, '/test.Echo/Metadata', 'client-api-version', { 'client-api-version': '\u00ff' }));
  client.write(client.request(3, '/test.Echo/Metadata', 'some-bin', { 'some-bin': 'AAEC' }));
  client.write(client.request(5, '/test.Echo/Metadata', ':authority', {}));
  await client.outcome(5);
  expect([1, 3, 5].map((streamId) => client.body(streamId).toString('utf8', 5))).toEqual([
    '\u00ff',
    'undefined',
    'localhost',
  ]);
});

test('a unary request may come with trailers', async () => {
  await using serving = await startServing(serve);
  using client = await RawClient.open(serving.port);
  client.write(
    client.headers(1, grpcHeaders(sync)),
    client.data(1, grpcMessage('hi')),
    client.headers(1, { some: 'trailer' }, true),
  );
  expect(await client.outcome(1)).toBe('grpc-status: 0');
});

test('bytes that are no HTTP/2 end the connection', async () => {
  await using serving = await startServing(serve);
  using client = await RawClient.silent(serving.port);
  client.socket.write('PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n');
  expect(await client.goAway()).toBe('PROTOCOL_ERROR not the preface of HTTP/2');
  await client.untilClosed();
  await until(() => serving.observer.connections === 0);
});

test('random bytes behind the preface never do more than end the connection', async () => {
  await using serving = await startServing(serve);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(10), fc.nat(255), fc.nat(8), fc.uint8Array({ maxLength: 60 })), { maxLength: 20 }),
      async (frames) => {
        using client = await RawClient.open(serving.port);
        for (const [type, flags, streamId, payload] of frames) {
          const bytes = frame('DATA', flags, streamId, payload);
          bytes[3] = type;
          client.write(bytes);
        }
        client.socket.end();
        await client.untilClosed();
      },
    ),
    { numRuns: 100 },
  );
  using client = await RawClient.open(serving.port);
  client.write(client.request(1, sync, 'still here'));
  expect(await client.outcome(1)).toBe('grpc-status: 0');
});
