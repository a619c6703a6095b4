import { createServer, type Server } from 'node:net';
import { connect } from 'node:net';
import { once } from 'node:events';
import { quiet } from '@engram/sim';
import { startNode } from '@engram/server';
import { afterEach, expect, test } from 'vitest';
import { BoundPorts } from '../src/start/bound-ports.ts';
import { ConfigFiles, configOf } from './config-files.ts';

const files = new ConfigFiles();
const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) server.close();
});

async function listening(onConnection: () => void = () => {}): Promise<number> {
  const server = createServer((socket) => {
    onConnection();
    socket.destroy();
  });
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return portOf(server);
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not a port');
  return address.port;
}

test.each(['peer', 'client'])(
  'a member that cannot have its %s port asks nothing of TiKV, and leaves nothing bound',
  async (kind) => {
    let asked = 0;
    const pd = await listening(() => (asked += 1));
    const taken = `http://127.0.0.1:${await listening()}`;
    const [peer, client] = kind === 'peer' ? [taken, 'http://127.0.0.1:0'] : ['http://127.0.0.1:0', taken];
    const config = await configOf([
      '--storage=tikv',
      `--tikv-pd-endpoints=127.0.0.1:${pd}`,
      `--data-dir=${files.folder}/member`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${taken}`,
      `--initial-cluster=default=${taken}`,
      `--listen-client-urls=${client}`,
      `--advertise-client-urls=${client}`,
    ]);
    const starting = startNode({ config, logger: quiet, onFatal: () => {}, onRemoved: () => {} });
    const what = kind === 'peer' ? 'cannot listen for peers on' : 'cannot listen on';
    await expect(starting).rejects.toThrow(`${what} ${taken}`);
    expect(asked).toBe(0);
  },
);

test('a port that is bound and not served resets connections, and is free again when the start fails', async () => {
  const free = createServer();
  await once(free.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${portOf(free)}`;
  await new Promise((resolve) => free.close(resolve));
  const config = await configOf([`--listen-client-urls=${url}`, `--advertise-client-urls=${url}`]);
  const ports = await BoundPorts.bind(config);
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  const [error] = await once(socket, 'error');
  expect((error as NodeJS.ErrnoException).code).toBe('ECONNRESET');
  await expect(BoundPorts.bind(config)).rejects.toThrow(`cannot listen on ${url}`);
  ports[Symbol.dispose]();
  (await BoundPorts.bind(config))[Symbol.dispose]();
});

test('two processes may have the same ports only if both say so', async () => {
  const flags = (port: number): readonly string[] => [
    `--listen-client-urls=http://127.0.0.1:${port}`,
    `--advertise-client-urls=http://127.0.0.1:${port}`,
  ];
  const shared = '--socket-reuse-port';
  const any = await configOf([...flags(0), shared]);
  using first = await BoundPorts.bind(any);
  const { address } = first.of(any.listenClientUrls[0]!);
  const same = flags(address.kind === 'tcp' ? address.port : 0);
  await expect(BoundPorts.bind(await configOf(same))).rejects.toThrow('cannot listen on');
  using _second = await BoundPorts.bind(await configOf([...same, shared]));
});
