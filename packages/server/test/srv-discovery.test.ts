import { quiet } from '@engram/sim';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { discoverMembers, type NameService, systemNames } from '../src/cluster/srv-discovery.ts';

interface Zone {
  readonly srv: Readonly<Record<string, readonly (readonly [name: string, port: number])[]>>;
  readonly hosts: Readonly<Record<string, readonly string[]>>;
}

const known = <Value>(table: Readonly<Record<string, Value>>, name: string): Value => {
  const value = table[name];
  if (value === undefined) throw new Error(`ENOTFOUND ${name}`);
  return value;
};

const namesOf = ({ srv, hosts }: Zone): NameService => ({
  srv: async (name) => known(srv, name).map(([host, port]) => ({ name: host, port })),
  addresses: async (host) => known(hosts, host),
});

const hosts = { 'a.x.org': ['10.0.0.1'], 'b.x.org': ['10.0.0.2'], 'c.x.org': ['10.0.0.3', 'fd00::3'] };
const plain: Zone = {
  srv: {
    '_etcd-server._tcp.x.org': [
      ['c.x.org.', 2380],
      ['a.x.org.', 2380],
      ['b.x.org', 2380],
    ],
  },
  hosts,
};
const at = (url: string, name = 'me'): { readonly name: string; readonly advertisePeerUrls: readonly string[] } => ({
  name,
  advertisePeerUrls: [url],
});
const domain = { domain: 'x.org', serviceName: '' };

test.each(['a', 'b', 'c'])('the member at %s finds all, and itself by its address', async (host) => {
  const members = await discoverMembers(domain, at(`http://${host}.x.org:2380`), namesOf(plain), quiet);
  expect(members.find(({ name }) => name === 'me')?.peerUrls).toEqual([`http://${host}.x.org:2380`]);
  expect(members.flatMap(({ peerUrls }) => peerUrls).sort()).toEqual([
    'http://a.x.org:2380',
    'http://b.x.org:2380',
    'http://c.x.org:2380',
  ]);
  expect(
    members
      .map(({ name }) => name)
      .filter((name) => name !== 'me')
      .sort(),
  ).toEqual(['0', '1']);
});

test('records of the secure service are https, and those of a named service have its name', async () => {
  const zone: Zone = {
    srv: {
      '_etcd-server-ssl-blue._tcp.x.org': [['a.x.org.', 1]],
      '_etcd-server-blue._tcp.x.org': [['b.x.org.', 2]],
    },
    hosts,
  };
  const named = { domain: 'x.org', serviceName: 'blue' };
  expect(await discoverMembers(named, at('https://a.x.org:1'), namesOf(zone), quiet)).toEqual([
    { name: 'me', peerUrls: ['https://a.x.org:1'] },
    { name: '0', peerUrls: ['http://b.x.org:2'] },
  ]);
});

test.each<{ why: string; zone: Zone; self: string; says: string }>([
  {
    why: 'no records',
    zone: { srv: {}, hosts },
    self: 'http://a.x.org:2380',
    says: 'error querying DNS SRV records of x.org: Error: ENOTFOUND _etcd-server-ssl._tcp.x.org',
  },
  {
    why: 'a record of no host',
    zone: { srv: { '_etcd-server._tcp.x.org': [['z.x.org', 1]] }, hosts },
    self: 'http://a.x.org:2380',
    says: 'ENOTFOUND z.x.org',
  },
  { why: 'another port', zone: plain, self: 'http://a.x.org:1', says: 'cannot find local etcd member "me"' },
  {
    why: 'an address instead of the name, of which the others would make another id',
    zone: { ...plain, hosts: { ...hosts, '10.0.0.1': ['10.0.0.1'] } },
    self: 'http://10.0.0.1:2380',
    says: 'SRV records have this member at http://a.x.org:2380, but --initial-advertise-peer-urls=http://10.0.0.1:2380',
  },
  {
    why: 'another scheme',
    zone: plain,
    self: 'https://a.x.org:2380',
    says: 'SRV records have this member at http://a.x.org:2380',
  },
  { why: 'an own host that nobody knows', zone: plain, self: 'http://y.org:1', says: 'the host of http://y.org:1' },
])('refused: $why', async ({ zone, self, says }) => {
  await expect(discoverMembers(domain, at(self), namesOf(zone), quiet)).rejects.toThrow(says);
});

test('records come from a name server', async () => {
  const server = createSocket('udp4');
  server.on('message', (query, { port, address }) => server.send(answerOf(query), port, address));
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const names = systemNames([`127.0.0.1:${server.address().port}`]);
    expect(await names.srv('_etcd-server._tcp.x.org')).toMatchObject([{ name: 'a.x.org', port: 2380 }]);
    expect(await names.addresses('127.0.0.1')).toEqual(['127.0.0.1']);
  } finally {
    server.close();
  }
});

/** RFC 1035 and 2782: an answer with the question and one record: priority 0, weight 0, port 2380, a.x.org. */
function answerOf(query: Buffer): Buffer {
  const end = query.indexOf(0, 12) + 5;
  const header = Buffer.from(query.subarray(0, 12));
  header.writeUInt16BE(0x8180, 2);
  header.writeUInt16BE(1, 6);
  header.writeUInt32BE(0, 8);
  const target = Buffer.from('\x01a\x01x\x03org\x00', 'latin1');
  const record = Buffer.alloc(18);
  record.writeUInt16BE(0xc00c, 0);
  record.writeUInt16BE(33, 2);
  record.writeUInt16BE(1, 4);
  record.writeUInt32BE(60, 6);
  record.writeUInt16BE(6 + target.length, 10);
  record.writeUInt16BE(2380, 16);
  return Buffer.concat([header, query.subarray(12, end), record, target]);
}
