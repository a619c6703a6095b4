import { EtcdClient, EtcdSource, isMigrationError } from '@engram/migration';
import { expect, test, vi } from 'vitest';

test('calls that fail together bring the client to the next endpoint, and not past it', async () => {
  // Ports where nobody listens.
  const endpoints = ['127.0.0.1:1', '127.0.0.1:2'];
  using client = new EtcdClient({ endpoints, tls: undefined, user: undefined });
  const source = new EtcdSource(client);
  const { signal } = new AbortController();
  const outcomes = await Promise.allSettled([source.revision(signal), source.revision(signal)]);
  for (const outcome of outcomes) {
    expect(outcome.status === 'rejected' && isMigrationError(outcome.reason, 'interrupted')).toBe(true);
  }
  expect(client.endpoint).toBe(endpoints[1]);
});

test('a call that could not begin leaves no timer', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const tls = { caPath: '/there/is/no/such/file.pem' };
    using client = new EtcdClient({ endpoints: ['127.0.0.1:1'], tls, user: undefined });
    const asked = new EtcdSource(client).revision(new AbortController().signal);
    await expect(asked).rejects.toSatisfy((error) => isMigrationError(error, 'refused'));
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});
