import { expect, test } from 'vitest';
import { PeerActivity } from '../src/peer-activity.ts';
import { id } from './support/members.ts';

test('a connection grows older also in ticks that were missed, and nobody was silent in them', () => {
  const peers = new PeerActivity();
  peers.missed(7);
  expect(peers.connectedTicks(id(2))).toBe(-1);
  peers.connected(id(2));
  peers.heard(id(2), true);
  peers.tick();
  peers.missed(48);
  peers.tick();
  expect(peers.connectedTicks(id(2))).toBe(50);
  expect(peers.hasHealthyStorage(id(2), 2)).toBe(true);
  peers.disconnected(id(2));
  peers.connected(id(2));
  expect(peers.connectedTicks(id(2))).toBe(0);
});
