import { expect, test } from 'vitest';
import { clusterIdOf, memberIdOf, parsePeerUrls } from '../index.ts';

test("ids are etcd's: those of its Procfile", () => {
  const ids = [12380, 22380, 32380].map((port) => memberIdOf([`http://127.0.0.1:${port}`], 'etcd-cluster-1'));
  expect(ids.map((id) => id.toString(16))).toEqual(['8211f1d0f64f3269', '91bc3c398fb3c146', 'fd422379fda50e48']);
  expect(clusterIdOf(ids).toString(16)).toBe('ef37ad9dc622a7c4');
  expect(clusterIdOf([...ids].reverse())).toBe(clusterIdOf(ids));
});

test('a member that is added later has its time in its id, and the order of its URLs does not matter', () => {
  const urls = ['http://a:1', 'http://b:2'];
  expect(memberIdOf(urls, 'token', 5)).not.toBe(memberIdOf(urls, 'token'));
  expect(memberIdOf([...urls].reverse(), 'token', 5)).toBe(memberIdOf(urls, 'token', 5));
});

test.each([
  { urls: ['http://127.0.0.1:2380'], ok: true },
  { urls: ['https://[::1]:2380', 'http://etcd-0.etcd.svc:2380'], ok: true },
  { urls: ['http://127.0.0.1:80'], ok: true },
  { urls: [' http://127.0.0.1:2380 '], ok: true },
  { urls: ['unix:///var/run/peer.sock'], ok: false },
  { urls: ['unixs://localhost:1'], ok: false },
  { urls: ['http://:2380'], ok: false },
  { urls: ['http://a\\b:2380'], ok: false },
  { urls: ['http://127.0.0.1:65536'], ok: false },
  { urls: [], ok: false },
  { urls: ['127.0.0.1:2380'], ok: false },
  { urls: ['ftp://127.0.0.1:2380'], ok: false },
  { urls: ['http://127.0.0.1'], ok: false },
  { urls: ['http://127.0.0.1:2380/'], ok: false },
  { urls: ['http://127.0.0.1:2380/path'], ok: false },
  { urls: ['http://127.0.0.1:port'], ok: false },
  { urls: ['http://::1:2380'], ok: false },
  { urls: ['http://127.0.0.1:2380', 'nonsense'], ok: false },
])('$urls are peer URLs: $ok', ({ urls, ok }) => {
  expect(parsePeerUrls(urls)).toEqual(ok ? urls.map((url) => url.trim()).sort() : undefined);
});
