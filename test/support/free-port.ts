import { createServer } from 'node:net';

/** A port of the loopback interface that was free a moment ago. Another process may take it before it is used. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  if (address === null || typeof address === 'string') throw new Error('a TCP server without a port');
  return address.port;
}
