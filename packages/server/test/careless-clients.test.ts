import { expect, test } from 'vitest';
import { etcdserverpb } from '@engram/wire';
import { frame, grpcHeaders, grpcMessage, RawClient } from '@engram/transport/testing';
import { Engram } from './support/engram-process.ts';

/* Clients that cost the operator log lines, metric labels, or a slow stop. */

test('20,000 watch requests of no kind are a few lines of log', async () => {
  await using engram = await Engram.start();
  using client = await RawClient.open(engram.port);
  client.write(client.headers(1, grpcHeaders('/etcdserverpb.Watch/Watch')));
  const empty = Buffer.concat(Array.from({ length: 500 }, () => grpcMessage('')));
  for (let sent = 0; sent < 40; sent += 1) client.write(client.data(1, empty));
  client.write(frame('PING', 0, 0, Buffer.alloc(8)));
  await client.frame(({ type, ack }) => type === 'PING' && ack);
  await engram.logged(({ msg }) => msg === 'a watch request of no kind was ignored');
  client.socket.destroy();
  await engram.stop();
  const lines = engram.lines.filter(({ msg }) => msg === 'a watch request of no kind was ignored');
  expect(lines.length).toBeLessThan(200);
});

test('versions that clients make up are no labels', async () => {
  await using engram = await Engram.start();
  using client = await RawClient.open(engram.port);
  const status = etcdserverpb.encodeStatusRequest({});
  for (let id = 1; id < 200; id += 2) {
    const version = `${id}`.padEnd(15_000, 'v');
    client.write(client.request(id, '/etcdserverpb.Maintenance/Status', status, { 'client-api-version': version }));
  }
  await client.outcome(199);
  const text = await (await fetch(`${engram.url}/metrics`)).text();
  expect(text).toContain('etcd_server_client_requests_total{type="unary",client_api_version="other"} 100');
  expect(text).not.toContain('vvvvv');
});

test('a client that never acknowledges the ping of a drain holds the exit up for a second', async () => {
  await using engram = await Engram.start();
  using client = await RawClient.open(engram.port);
  client.write(client.request(1, '/etcdserverpb.Maintenance/Status', etcdserverpb.encodeStatusRequest({})));
  await client.outcome(1);
  const { code, tookMs } = await engram.stop();
  expect(code).toBe(0);
  expect(tookMs).toBeLessThan(2_500);
});
