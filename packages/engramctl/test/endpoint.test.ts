import { expect, test } from 'vitest';
import { parseEndpoint } from '../src/client/endpoint.ts';

// The uses of TLS are those of etcd client/v3/internal/endpoint/endpoint_test.go.
test.each([
  ['127.0.0.1:2379', '127.0.0.1:2379', 'optional', '127.0.0.1', 2379],
  ['etcd-0.etcd:2379', 'etcd-0.etcd:2379', 'optional', 'etcd-0.etcd', 2379],
  ['http://host:2379', 'host:2379', 'dropped', 'host', 2379],
  ['https://host:2379/', 'host:2379', 'required', 'host', 2379],
  ['https://host:2379/path?x#y', 'host:2379', 'required', 'host', 2379],
  ['[::1]:2379', '[::1]:2379', 'optional', '::1', 2379],
  ['http://[fe80::1%eth0]:1', '[fe80::1%eth0]:1', 'dropped', 'fe80::1%eth0', 1],
])('%s', (text, address, tls, host, port) => {
  expect(parseEndpoint(text)).toEqual({ text, address, tls, host, port });
});

test.each([
  ['unix:///run/etcd.sock', '/run/etcd.sock', 'optional'],
  ['unix://etcd.sock', 'etcd.sock', 'optional'],
  ['unix:etcd.sock', 'etcd.sock', 'optional'],
  ['unixs:///run/etcd.sock', '/run/etcd.sock', 'required'],
])('the socket %s', (text, path, tls) => {
  expect(parseEndpoint(text)).toEqual({ text, address: `unix:${path}`, path, tls });
});

test.each([
  '',
  'host',
  'host:',
  ':2379',
  'host:0',
  'host:65536',
  'host:1:2',
  'http://host',
  'http://',
  'user@host:1',
  'a b:1',
  'http://a:b@c:1',
])('%j is refused', (text) => expect(() => parseEndpoint(text)).toThrow('expected host:port'));

test('another scheme is refused by its name', () => {
  expect(() => parseEndpoint('ftp://host:21')).toThrow('the scheme ftp is none of http, https, unix, unixs');
});
