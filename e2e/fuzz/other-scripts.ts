import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Prng } from '@engram/sim';
import { someJson } from './gateway-json.ts';
import { mutated, randomBytes } from './mutate.ts';

const targets = [
  '/',
  '/health',
  '/metrics',
  '/version',
  '/livez',
  '/readyz',
  '/v3/kv/range',
  '/v3/kv/put',
  '/v3/watch',
  '/v3/lease/keepalive',
  '*',
  'http://x/health',
  '//',
  '',
];

/** Some HTTP/1.1 requests, mostly valid. */
export function http1Script(random: Prng): readonly Buffer[] {
  const requests = Array.from({ length: random.chance(0.05) ? 200 : 1 + random.below(4) }, () => http1Request(random));
  const text = Buffer.from(requests.join(''), 'latin1');
  const bytes = random.chance(0.3) ? mutated(random, text, [text]) : text;
  const cut = random.below(bytes.length + 1);
  return random.chance(0.5) ? [bytes] : [bytes.subarray(0, cut), bytes.subarray(cut)];
}

function http1Request(random: Prng): string {
  const method = random.pick(['GET', 'GET', 'GET', 'POST', 'HEAD', 'OPTIONS', 'PUT', 'CONNECT', 'PRI', 'x']);
  const body = random.chance(0.5) ? someJson(random).toString('latin1') : 'b'.repeat(random.pick([0, 1, 100, 3_000]));
  const head = [
    `${method} ${random.pick(targets)} HTTP/${random.pick(['1.1', '1.1', '1.1', '1.0', '2.0', '0.9'])}`,
    'host: x',
  ];
  if (random.chance(0.1)) head.push('host: y');
  if (random.chance(0.2)) head.push(`x-${'n'.repeat(random.pick([1, 100, 20_000]))}: ${'v'.repeat(random.below(100))}`);
  if (random.chance(0.1)) head.push(...Array.from({ length: random.pick([10, 150, 2_500]) }, (_, at) => `h${at}: v`));
  if (random.chance(0.2)) head.push(`connection: ${random.pick(['close', 'keep-alive', 'upgrade', 'x'])}`);
  if (random.chance(0.1))
    head.push(
      'connection: upgrade',
      'upgrade: websocket',
      'sec-websocket-version: 13',
      'sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==',
    );
  if (random.chance(0.05)) head.push('upgrade: h2c', 'http2-settings: AAMAAABkAARAAAAAAAIAAAAA');
  if (random.chance(0.1)) head.push('expect: 100-continue');
  if (random.chance(0.1)) head.push(`accept-encoding: ${random.pick(['gzip', 'gzip;q=0', '*', ''])}`);
  if (random.chance(0.3)) {
    const length = random.chance(0.8) ? String(body.length) : random.pick(['-1', '99999999999', '0x10', '1,1', '']);
    return `${head.join('\r\n')}\r\ncontent-length: ${length}\r\n\r\n${body}`;
  }
  if (random.chance(0.2)) {
    const size = random.chance(0.8)
      ? body.length.toString(16)
      : random.pick(['ffffffffffffffff', '-1', '', 'zz', '1;x=y']);
    return `${head.join('\r\n')}\r\ntransfer-encoding: chunked\r\n\r\n${size}\r\n${body}\r\n0\r\n\r\n`;
  }
  return `${head.join('\r\n')}${random.chance(0.95) ? '\r\n\r\n' : random.pick(['\n\n', '\r\n', '\r\r'])}`;
}

/** The first messages of real TLS clients with many kinds of options. */
export async function clientHellos(): Promise<readonly Buffer[]> {
  const options = [
    {},
    { ALPNProtocols: ['h2'] },
    { ALPNProtocols: ['http/1.1'] },
    { ALPNProtocols: ['x'.repeat(200), 'h2'] },
    { servername: 'localhost' },
    { maxVersion: 'TLSv1.2' as const },
    { minVersion: 'TLSv1.3' as const },
    { maxVersion: 'TLSv1.2' as const, ciphers: 'ECDHE-RSA-AES128-GCM-SHA256' },
    { ecdhCurve: 'P-521' },
  ];
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const hellos: Buffer[] = [];
  for (const each of options) {
    const accepted = once(server, 'connection');
    const client = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, ...each });
    client.on('error', () => {});
    const [socket] = (await accepted) as [Socket];
    const [hello] = (await once(socket, 'data')) as [Buffer];
    hellos.push(hello);
    client.destroy();
    socket.destroy();
  }
  server.close();
  return hellos;
}

/** The beginning of a handshake, complete, cut, changed, or followed by other bytes. */
export function tlsScript(random: Prng, hellos: readonly Buffer[]): readonly Buffer[] {
  const hello = random.pick(hellos);
  const bytes = random.chance(0.7) ? mutated(random, hello, hellos) : hello;
  const more = random.chance(0.5) ? [randomBytes(random, random.below(300))] : [];
  if (random.chance(0.3))
    return Array.from({ length: Math.ceil(bytes.length / 40) }, (_, at) => bytes.subarray(40 * at, 40 * at + 40));
  return [bytes, ...more];
}
