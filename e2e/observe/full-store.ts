import { setTimeout as pause } from 'node:timers/promises';
import { EtcdClient, EtcdError } from '../../test/support/etcd-client.ts';

/** Bounds so small that a client meets them. */
export const smallBounds = ['--quota-backend-bytes=8388608', '--max-watcher-bytes=262144'];
/** A connection may hold no more than what is still free. */
const CONNECTIONS = 5;
const WATCHERS_EACH = 120;
const VALUE = Buffer.alloc(64 << 10);
const BETWEEN_MS = 20;
/** So that a store grows for as long as a dozen scrapes: the alert of growth looks at the slope. */
const GROWTH_PAUSE_MS = 100;

/** Writes until the quota is met, and on: each write is refused then. */
export async function fillUp(endpoint: string): Promise<() => Promise<void>> {
  const stop = new AbortController();
  const writing = (async () => {
    using client = new EtcdClient(endpoint);
    for (let at = 0; !stop.signal.aborted; at += 1) {
      try {
        await client.put({ key: Buffer.from(`full/${at}`), value: VALUE });
        await pause(GROWTH_PAUSE_MS);
      } catch (error) {
        if (!(error instanceof EtcdError)) throw error;
        await pause(BETWEEN_MS);
      }
    }
  })();
  return async () => {
    stop.abort();
    await writing;
  };
}

/** More watchers than there is room for, of as many connections as it takes until the last of the room is held. */
export async function holdWatchers(endpoint: string): Promise<() => Promise<void>> {
  const stop = new AbortController();
  const clients = Array.from({ length: CONNECTIONS }, () => new EtcdClient(endpoint));
  const watchers = clients.flatMap((client) =>
    Array.from({ length: WATCHERS_EACH }, async (_, at) => {
      try {
        const create = { key: Buffer.from(`watched/${at}`) };
        for await (const { canceled } of client.watch(create, stop.signal)) if (canceled) break;
      } catch (error) {
        if (!(error instanceof EtcdError)) throw error;
      }
    }),
  );
  return async () => {
    stop.abort();
    await Promise.all(watchers);
    for (const client of clients) client.close();
  };
}
