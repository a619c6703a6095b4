import { once } from 'node:events';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { ClientBudgets, type Timer } from '@engram/core';
import { beforeEach, describe, expect, test } from 'vitest';
import { serve } from '@engram/transport';
import { CLIENT_HELLO_MAX_BYTES, hasClientHello } from '../src/client-hello.ts';
import { HandshakeLine, STALLED_MS, UNDER_WAY_MAX } from '../src/handshake-line.ts';
import { CertificateFolder } from './support/certificate-folder.ts';
import { issue } from './support/certificates.ts';
import { clientHello } from './support/client-hello.ts';
import { startServing, until } from './support/serving.ts';

/* Handshakes begin in turn, and never before their client hello is there. */

/** The same message in records of so many bytes. */
function inRecords(hello: Buffer, bytes: number): Buffer {
  const message = hello.subarray(5);
  const records: Buffer[] = [];
  for (let at = 0; at < message.length; at += bytes) {
    const part = message.subarray(at, at + bytes);
    records.push(Buffer.from([22, 3, 1, part.length >> 8, part.length & 0xff]), part);
  }
  return Buffer.concat(records);
}

describe('a client hello', () => {
  test.each([16_384, 100, 7, 1])('is there with its last byte, in records of %i bytes', async (bytes) => {
    const hello = inRecords(await clientHello(), bytes);
    for (let length = 0; length < hello.length; length += 1)
      expect(hasClientHello(hello.subarray(0, length)), String(length)).toBe(false);
    expect(hasClientHello(hello)).toBe(true);
    expect(hasClientHello(Buffer.concat([hello, Buffer.from('more')]))).toBe(true);
  });

  test('is not waited for behind bytes that begin none, or too many', () => {
    expect(hasClientHello(Buffer.from('GET / HTTP/1.1'))).toBe(true);
    expect(hasClientHello(Buffer.from([22, 3, 1, 0, 1, 1, 23]))).toBe(true);
    const endless = Buffer.alloc(CLIENT_HELLO_MAX_BYTES + 1, Buffer.from([22, 3, 1, 0, 0]));
    expect(hasClientHello(endless.subarray(0, CLIENT_HELLO_MAX_BYTES))).toBe(false);
    expect(hasClientHello(endless)).toBe(true);
  });
});

describe('the line', () => {
  let now: number;
  let slices: (() => void)[];
  let timers: { atMs: number; fire: () => void }[];
  let begun: string[];
  let line: HandshakeLine;

  beforeEach(() => {
    now = 0;
    slices = [];
    timers = [];
    begun = [];
    const after = (ms: number, fire: () => void): Timer => {
      timers.push({ atMs: now + ms, fire });
      return { cancel: () => {} };
    };
    line = new HandshakeLine({ nowMs: () => now, after }, { later: (_, resume) => void slices.push(resume) });
  });

  function push(address: string): { end: () => void; readonly cut: boolean } {
    let cut = false;
    const end = line.push(
      address,
      () => begun.push(address),
      () => {
        cut = true;
        end();
      },
    );
    return {
      end,
      get cut() {
        return cut;
      },
    };
  }
  /** Gives slices until nobody wants one. */
  function run(): void {
    for (let slice = slices.shift(); slice !== undefined; slice = slices.shift()) slice();
  }
  function pass(ms: number): void {
    now += ms;
    for (const timer of timers.splice(0)) {
      if (timer.atMs <= now) timer.fire();
      else timers.push(timer);
    }
    run();
  }

  test('begins one handshake in each slice', () => {
    for (let at = 0; at < 10; at += 1) push('a');
    expect(begun).toEqual([]);
    slices.shift()!();
    expect(begun).toEqual(['a']);
    slices.shift()!();
    expect(begun).toEqual(['a', 'a']);
    expect(line).toMatchObject({ waiting: 8, underWay: 2 });
  });

  test('asks for few slices ahead, no matter how many wait', () => {
    for (let at = 0; at < 1_000; at += 1) push('a');
    expect(slices.length).toBeLessThan(10);
  });

  test('lets an address have half of the places, and others begin at once', () => {
    const flood = Array.from({ length: 1_000 }, () => push('flood'));
    run();
    expect(line.underWay).toBe(UNDER_WAY_MAX / 2);
    push('modest');
    run();
    expect(begun.at(-1)).toBe('modest');
    flood[0]!.end();
    run();
    expect(line.underWay).toBeLessThanOrEqual(UNDER_WAY_MAX / 2 + 1);
  });

  test('takes the addresses in turn', () => {
    for (let at = 0; at < 3; at += 1) push('a');
    for (let at = 0; at < 3; at += 1) push('b');
    run();
    expect(begun).toEqual(['a', 'b', 'a', 'b', 'a', 'b']);
  });

  test('takes all addresses of a /64 of IPv6 for one', () => {
    for (let at = 1; at <= 3; at += 1) push(`2001:db8::${at}`);
    for (let at = 1; at <= 3; at += 1) push('2001:db8:0:1::1');
    run();
    const [one, other] = [(at: number) => `2001:db8::${at}`, '2001:db8:0:1::1'];
    expect(begun).toEqual([one(1), other, one(2), other, one(3), other]);
  });

  test('goes on when handshakes end, until all have had their turn', () => {
    const all = Array.from({ length: 100 }, () => push('a'));
    for (let round = 0; begun.length < 100 && round < 100; round += 1) {
      run();
      for (const { end } of all.slice(0, begun.length)) end();
    }
    run();
    expect(begun).toHaveLength(100);
    for (const { end } of all) end();
    expect(line).toMatchObject({ waiting: 0, underWay: 0 });
  });

  test('cuts those that stall while others wait, and only then', () => {
    const some = Array.from({ length: UNDER_WAY_MAX / 2 }, () => push('a'));
    run();
    pass(10 * STALLED_MS);
    expect(some.some(({ cut }) => cut)).toBe(false);
    push('a');
    run();
    pass(STALLED_MS);
    expect(some.every(({ cut }) => cut)).toBe(true);
    expect(begun).toHaveLength(UNDER_WAY_MAX / 2 + 1);
  });

  test('begins nothing for a client that has gone', () => {
    const all = Array.from({ length: 5 }, () => push('a'));
    for (const { end } of all.slice(0, 4)) end();
    run();
    expect(begun).toEqual(['a']);
    all[4]!.end();
    expect(line).toMatchObject({ waiting: 0, underWay: 0 });
  });
});

test('unfinished handshakes have a bound of their own, and give their places back', async () => {
  const ca = issue('ca');
  const folder = new CertificateFolder(ca, issue('server', ca));
  const bytes = 2 ** 20;
  const budgets = new ClientBudgets({
    requestBytes: bytes,
    answerBytes: bytes,
    streams: 100,
    watcherBytes: bytes,
    connections: 100,
  });
  const tls = folder.tls();
  await using serving = await startServing(serve, { tls, budgets });
  const sockets = Array.from({ length: 90 }, () => connect(serving.port, '127.0.0.1').on('error', () => {}));
  await until(() => budgets.handshakes.refusals > 0 && serving.observer.connections === budgets.handshakes.used);
  // Of 50, one address may have four fifths; of 100 connections it could have 80.
  expect(budgets.handshakes.used).toBe(40);
  for (const socket of sockets) socket.destroy();
  await until(() => budgets.handshakes.used === 0);
  const whole = connectTls({ port: serving.port, host: '127.0.0.1', rejectUnauthorized: false });
  await once(whole, 'secureConnect');
  await until(() => budgets.handshakes.used === 0);
  expect(budgets.connections.used).toBe(1);
  whole.destroy();
});
