import { describe, expect, test } from 'vitest';
import { stateText } from '../src/migrate/state-text.ts';

const lag = { at: 90, source: 100, silentMs: 400, compared: true };
const leads = { leaderId: 0xa1n, memberId: 0xa1n };

describe('what a member that follows an etcd says of it', () => {
  test.for([
    ['how far it is', lag, leads, '10 revisions behind, at 90 of 100; it takes no writes before engram cut-over'],
    [
      'that it has all',
      { ...lag, at: 100 },
      leads,
      '0 revisions behind, at 100 of 100; it takes no writes before engram cut-over',
    ],
    [
      'no number of revisions while the newest one is not compared',
      { ...lag, at: 100, compared: false },
      leads,
      'revision 100 is not compared with the etcd yet; it takes no writes before engram cut-over',
    ],
    [
      'that the etcd is silent',
      { ...lag, silentMs: 5001 },
      leads,
      '10 revisions behind, at 90 of 100, and it has said nothing for 5 s; it takes no writes before engram cut-over',
    ],
    [
      'that the etcd is silent and not compared',
      { ...lag, silentMs: 12_600, compared: false },
      leads,
      'revision 90 is not compared with the etcd yet, and it has said nothing for 13 s; it takes no writes before engram cut-over',
    ],
    ['nothing before the first word', { ...lag, silentMs: undefined }, leads, 'it has not answered yet'],
    ['nothing before it follows', undefined, leads, 'it has not answered yet'],
    [
      'who follows, if another member leads',
      lag,
      { leaderId: 0xb2n, memberId: 0xa1n },
      'the leader b2 does; it takes no writes before engram cut-over there',
    ],
    [
      'that nobody follows',
      lag,
      { leaderId: 0n, memberId: 0xa1n },
      'no member leads; it takes no writes before engram cut-over',
    ],
  ] as const)('%s', ([, known, member, text]) => {
    expect(stateText(known, member)).toBe(text);
  });
});
