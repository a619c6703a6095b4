import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { freePort } from '../support/free-port.ts';

const root = join(import.meta.dirname, '../..');
/** In the place of a store: says that it is ready, and serves its port until it is killed. */
const store = (port: number): string =>
  `require('node:net').createServer(() => {}).listen(${port}, '127.0.0.1', () => console.log('ready to serve client requests'))`;
const judge = (port: number): string => `
  import { StoreProcess } from '${root}/test/support/store-process.ts';
  import { endOnSignals } from '${root}/e2e/support/end-on-signals.ts';
  endOnSignals();
  const place = { dataDir: 'none', clientPort: ${port}, peerPort: 1 };
  await StoreProcess.start(place, { command: [process.execPath, '-e', ${JSON.stringify(store(port))}, '--'] });
  console.log('started');
  process.stdin.once('data', () => process.exit(0)).resume();
`;

test.each(['SIGTERM', 'SIGINT', undefined] as const)(
  'a store ends with the judge that has started it: by %s',
  async (signal) => {
    const port = await freePort();
    const child = spawn(process.execPath, ['--input-type=module', '-e', judge(port)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const ended = once(child, 'exit');
    const [line] = await once(createInterface({ input: child.stdout }), 'line');
    expect(line).toBe('started');
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    // A process that is killed resets its connections.
    const closed = new Promise<void>((resolve) => {
      socket.on('error', () => undefined);
      socket.once('close', () => resolve());
    });
    socket.resume();
    if (signal === undefined) child.stdin.end('end');
    else child.kill(signal);
    await closed;
    expect(await ended).toEqual([signal === undefined ? 0 : 1, null]);
  },
);
