import { parsePeerUrls } from '@engram/election';
import { PeerLinks } from '@engram/peer';
import { quiet, SimClock } from '@engram/sim';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dialTargetOf } from '../src/dial-target.ts';

test.each([
  { url: 'http://h:2380', target: 'dns:///h:2380', secure: false },
  { url: 'https://h:2380', target: 'dns:///h:2380', secure: true },
  { url: 'http://h:80', target: 'dns:///h:80', secure: false },
  { url: 'https://h:443', target: 'dns:///h:443', secure: true },
  { url: 'http://[::1]:2380', target: 'dns:///[::1]:2380', secure: false },
  { url: 'HTTP://H:00080', target: 'dns:///h:80', secure: false },
  { url: 'http://unix:2380', target: 'dns:///unix:2380', secure: false },
  { url: 'http://ipv4:2380', target: 'dns:///ipv4:2380', secure: false },
  { url: 'http://dns:2380', target: 'dns:///dns:2380', secure: false },
  { url: 'http://xds:2380', target: 'dns:///xds:2380', secure: false },
])('$url is dialed at $target', ({ url, target, secure }) => {
  const dialed = dialTargetOf(url);
  expect(dialed).toMatchObject({ target, secure });
  const host = dialed!.host.includes(':') ? `[${dialed!.host}]` : dialed!.host;
  expect(`dns:///${host}:${dialed!.port}`).toBe(target);
});

test.each([
  'unix:///nowhere',
  'unix://a b',
  'unix://',
  'unixs://localhost:1',
  'http://h',
  'http://h:65536',
  'http://:2380',
  'http://h:1/path',
  'http://a b:1',
  'http://[zz]:1',
  'http://user@h:1',
  '',
  'nonsense',
])('%j cannot be dialed', (url) => {
  expect(dialTargetOf(url)).toBe(undefined);
});

const host = fc.oneof(
  fc.domain(),
  fc.ipV4(),
  fc.ipV6().map((ip) => `[${ip}]`),
  fc.constantFrom('unix', 'ipv4', 'ipv6', 'dns', 'xds', 'http', 'localhost', '0x7f.1', '[fe80::1%eth0]', 'a\\b'),
  fc.string(),
);
const port = fc.oneof(fc.constantFrom('0', '80', '443', '65535', '65536', '00080', ''), fc.nat().map(String));
const scheme = fc.constantFrom('http', 'https', 'HTTP', 'unix', 'unixs', 'dns', 'ipv4', 'ftp');
const urlAt = (hosts: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(scheme, hosts, port).map(([s, h, p]) => `${s}://${h}:${p}`);

test('what the leader takes as a peer URL can be dialed', () => {
  let taken = 0;
  fc.assert(
    fc.property(fc.oneof(urlAt(host), fc.string(), fc.webUrl()), (text) => {
      const parsed = parsePeerUrls([text]);
      if (parsed === undefined) return;
      taken += 1;
      expect(dialTargetOf(parsed[0]!)).toBeDefined();
    }),
    { numRuns: 1000 },
  );
  expect(taken).toBeGreaterThan(20);
});

/** Hosts that a look-up answers without asking another machine. */
const near = fc.oneof(
  fc.constantFrom('127.0.0.1', '[::1]', 'localhost', '0x7f.1', 'a b', 'a\\b', '[zz]', '', '@', '/', '%'),
  fc.string({ maxLength: 3, unit: fc.constantFrom('/', '?', '#', '@', ' ', '[', ']', ':', '\\', '%') }),
);

test('a member list is taken whatever its URLs are, and those that cannot be dialed count as not reached', () => {
  const urls = fc.array(fc.oneof(urlAt(near), near), { maxLength: 4 });
  fc.assert(
    fc.property(urls, (some) => {
      const said = new Set<unknown>();
      const warn = ({ url }: Readonly<Record<string, unknown>>): void => void said.add(url);
      using links = new PeerLinks({
        clusterId: 1n,
        memberId: 1n,
        storeId: 5n,
        tls: undefined,
        clock: new SimClock(),
        logger: { ...quiet, warn },
        service: () => undefined,
      });
      links.setMembers([{ id: 2n, peerUrls: some }]);
      links.setMembers([{ id: 2n, peerUrls: [...some, 'unix:///nowhere'] }]);
      links.send(2n, new Uint8Array(1));
      if (some.every((one) => dialTargetOf(one) === undefined)) expect([...said]).toContain('unix:///nowhere');
    }),
    { numRuns: 200 },
  );
});
