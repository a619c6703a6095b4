import { SimClock } from '@engram/sim';
import { beforeEach, expect, test } from 'vitest';
import { type PeerSocket, PeerSockets, STRANGERS_MAX } from '../src/peer-sockets.ts';

class TestSocket implements PeerSocket {
  static #ports = 1;
  readonly remoteAddress: string;
  readonly remotePort = TestSocket.#ports++;
  destroyed = false;
  readonly #closed: (() => void)[] = [];

  constructor(remoteAddress: string) {
    this.remoteAddress = remoteAddress;
  }

  get peer(): string {
    return `${this.remoteAddress}:${this.remotePort}`;
  }

  on(event: 'error' | 'close', listener: () => void): void {
    if (event === 'close') this.#closed.push(listener);
  }

  destroy(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    for (const listener of this.#closed) listener();
  }
}

let clock: SimClock;
let sockets: PeerSockets;
beforeEach(() => {
  clock = new SimClock();
  sockets = new PeerSockets(clock);
});

function accept(address: string): TestSocket {
  const socket = new TestSocket(address);
  sockets.accept(socket);
  return socket;
}

const living = (all: readonly TestSocket[]): number => all.filter(({ destroyed }) => !destroyed).length;

test('strangers of one address close the oldest of each other', () => {
  const all = Array.from({ length: 2 * STRANGERS_MAX }, () => accept('10.0.0.1'));
  expect(all.map(({ destroyed }) => destroyed)).toEqual(all.map((_, at) => at < STRANGERS_MAX));
  expect(sockets.count).toBe(STRANGERS_MAX);
});

test('a flood from one address closes no socket of another one, which may say who it is', () => {
  const early = accept('10.0.0.2');
  Array.from({ length: 3 * STRANGERS_MAX }, () => accept('10.0.0.1'));
  const late = accept('10.0.0.3');
  Array.from({ length: 3 * STRANGERS_MAX }, () => accept('10.0.0.1'));
  expect([early, late].map(({ destroyed }) => destroyed)).toEqual([false, false]);
  expect(sockets.greeted(early.peer, 2n)).toBe(true);
  expect(sockets.greeted(late.peer, 3n)).toBe(true);
  expect(sockets.count).toBe(STRANGERS_MAX);
});

test('all addresses of a /64 of IPv6 count as one', () => {
  const member = accept('2001:db8:0:1::1');
  const flood = Array.from({ length: 3 * STRANGERS_MAX }, (_, at) => accept(`2001:db8::${(at + 1).toString(16)}`));
  expect(member.destroyed).toBe(false);
  expect(living(flood)).toBe(STRANGERS_MAX - 1);
});

test('of strangers that have an address each, the oldest is closed', () => {
  const all = Array.from({ length: STRANGERS_MAX + 1 }, (_, at) => accept(`10.0.1.${at}`));
  expect(all.map(({ destroyed }) => destroyed)).toEqual(all.map((_, at) => at === 0));
});

test('who does not say who it is goes after ten seconds, and a member stays', () => {
  const [stranger, member] = [accept('10.0.0.1'), accept('10.0.0.1')];
  expect(sockets.greeted(member.peer, 2n)).toBe(true);
  clock.advance(9_999);
  expect(stranger.destroyed).toBe(false);
  clock.advance(1);
  expect([stranger, member].map(({ destroyed }) => destroyed)).toEqual([true, false]);
});

test('who is no member is a stranger again after its stream, and may come back over the same socket', () => {
  const [gone, back, member] = [accept('10.0.0.1'), accept('10.0.0.1'), accept('10.0.0.1')];
  for (const [at, { peer }] of [gone, back, member].entries()) expect(sockets.greeted(peer, BigInt(at + 2))).toBe(true);
  sockets.left(gone.peer);
  sockets.left(back.peer);
  sockets.left(back.peer);
  expect(sockets.greeted(back.peer, 3n)).toBe(true);
  clock.advance(10_000);
  expect([gone, back, member].map(({ destroyed }) => destroyed)).toEqual([true, false, false]);
  sockets.left(gone.peer);
  expect(sockets.count).toBe(2);
});
