import { expect, test } from 'vitest';
import { Engram } from './support/engram-process.ts';

test.each([
  ['-1', '+Inf'],
  ['0', '2147483648'],
  ['8388608', '8388608'],
])('with --quota-backend-bytes=%s the data may take %s bytes, by which alerts divide', async (flag, bytes) => {
  await using node = await Engram.start([`--quota-backend-bytes=${flag}`]);
  for (const accept of ['text/plain', 'application/openmetrics-text']) {
    const text = await (await fetch(`${node.url}/metrics`, { headers: { accept } })).text();
    expect(text.split('\n').filter((line) => line.startsWith('etcd_server_quota'))).toEqual([
      `etcd_server_quota_backend_bytes ${bytes}`,
    ]);
  }
});
