import { expect, test } from 'vitest';
import { HashPlaces } from '../src/auth/hash-places.ts';

/** How many of 120 connections get a place when each asks for one. */
function entering(peerOf: (host: number) => string): number {
  const places = new HashPlaces(100);
  let entered = 0;
  for (let host = 1; host <= 120; host += 1) if (places.enter({ client: {}, peer: peerOf(host) })) entered += 1;
  return entered;
}

test.each<[string, (host: number) => string, number]>([
  ['one IPv4 address', (host) => `10.0.0.1:${host}`, 80],
  ['several IPv4 addresses', (host) => `10.0.0.${host}:1`, 100],
  ['one IPv4 address in both forms', (host) => (host % 2 === 0 ? `10.0.0.1:${host}` : `[::ffff:10.0.0.1]:${host}`), 80],
  ['one network of IPv6', (host) => `[2001:db8:1:2::${host}]:1`, 80],
  ['several networks of IPv6', (host) => `[2001:db8:1:${host}::1]:1`, 100],
  ['one socket of the file system', () => '/run/engram:1/client.sock', 80],
])('connections from %s', (_, peerOf, entered) => {
  expect(entering(peerOf)).toBe(entered);
});
