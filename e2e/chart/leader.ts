import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { EtcdClient } from '../../test/support/etcd-client.ts';
import { freePorts } from '../../test/support/free-port.ts';
import { root } from '../../tools/release/bundle.ts';
import { Member, tool } from '../release/member.ts';
import { equal, type Judge } from '../support/judge.ts';

export interface LeaderProxyOptions {
  readonly judge: Judge;
  /** It must not exist. */
  readonly folder: string;
  /** Of three members. */
  readonly configuration: string;
  readonly haproxy: string;
  /** Where the libraries of that HAProxy are, if the machine has them not. */
  readonly libraries: string;
}

const SWITCHED_MAX_MS = 20_000;
const env = (libraries: string) => ({ LD_LIBRARY_PATH: libraries });

/** HAProxy with the rendered configuration in front of a real member, which leads, and of two that do not lead until it is gone. */
export async function checkLeaderProxy(options: LeaderProxyOptions): Promise<void> {
  const { judge, folder, configuration, haproxy, libraries } = options;
  mkdirSync(folder);
  await judge.check('HAProxy takes the rendered configuration', async () => {
    const file = join(folder, 'rendered.cfg');
    writeFileSync(file, configuration);
    await tool(haproxy, ['-c', '-f', file], { env: env(libraries) });
  });

  await judge.check(
    'the proxy connects to the member that leads, and ends its connections when another one does',
    async () => {
      const program = { program: join(root, 'packages/server/bin/engram'), args: [] };
      await using member = await Member.start(program, join(folder, 'member'));
      await using second = await PretendedMember.start('second');
      await using third = await PretendedMember.start('third');
      const [port = 0, health = 0] = await freePorts(2);
      const places = [
        { client: Number(new URL(member.client).port), metrics: Number(new URL(member.metrics).port) },
        second,
        third,
      ];
      await using proxy = await ProxyProcess.start(options, { port, health, places });
      equal('live', (await fetch(`http://127.0.0.1:${health}/livez`)).status, 200);

      // Servers count as up until their first answer, and are asked in turn: once for each, and once more, is the member that leads.
      let alone = 0;
      await until('only the member that leads is up', async () => {
        alone = (await saidAt(port)) === undefined ? alone + 1 : 0;
        return alone > places.length;
      });
      using client = new EtcdClient(`127.0.0.1:${port}`);
      await client.put({ key: Buffer.from('k'), value: Buffer.from('v') });
      third.leads = true;
      equal('code of the stop', await member.stop(), 0);
      await until('the next leader is reached', async () => (await saidAt(port)) === 'third');
      const held = connect(port, '127.0.0.1');
      const ended = once(held, 'close').then(() => 'has ended');
      await once(held, 'data');
      // It lives, and leads no more.
      [third.leads, second.leads] = [false, true];
      await until('and the one after it', async () => (await saidAt(port)) === 'second');
      const open = pause(SWITCHED_MAX_MS, 'is open', { ref: false });
      equal('a connection to the one before', await Promise.race([ended, open]), 'has ended');
      equal('the proxy', proxy.running, true);
    },
  );
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const begin = performance.now();
  while (!(await holds())) {
    if (performance.now() - begin > SWITCHED_MAX_MS) throw new Error(`never: ${what}`);
    await pause(50);
  }
}

/** What a server says first. Undefined if it says nothing for a while: those of HTTP/2 wait for the client. */
async function saidAt(port: number): Promise<string | undefined> {
  const socket = connect(port, '127.0.0.1');
  try {
    const said = once(socket, 'data').then(
      ([bytes]) => String(bytes),
      () => 'nobody',
    );
    return await Promise.race([said, once(socket, 'close').then(() => 'nobody'), pause(300).then(() => undefined)]);
  } finally {
    socket.destroy();
  }
}

/** Says its name to clients, and leads as it is told. */
class PretendedMember implements AsyncDisposable {
  leads = false;
  readonly client: number;
  readonly metrics: number;
  readonly #close: () => void;

  private constructor(client: number, metrics: number, close: () => void) {
    this.client = client;
    this.metrics = metrics;
    this.#close = close;
  }

  static async start(name: string): Promise<PretendedMember> {
    const [client = 0, metrics = 0] = await freePorts(2);
    const clients = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.write(name);
    }).listen(client, '127.0.0.1');
    const probes = createHttpServer((request, response) => {
      const up = request.url === '/health/leader' && started.leads;
      response.writeHead(up ? 200 : 503).end();
    }).listen(metrics, '127.0.0.1');
    const started = new PretendedMember(client, metrics, () => {
      clients.close();
      probes.close();
      probes.closeAllConnections();
    });
    await Promise.all([once(clients, 'listening'), once(probes, 'listening')]);
    return started;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#close();
  }
}

interface Places {
  readonly port: number;
  readonly health: number;
  readonly places: readonly { readonly client: number; readonly metrics: number }[];
}

class ProxyProcess implements AsyncDisposable {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  static async start(
    { folder, configuration, haproxy, libraries }: LeaderProxyOptions,
    { port, health, places }: Places,
  ): Promise<ProxyProcess> {
    // The members have one address here, and ports in place of names.
    let at = 0;
    const local = configuration
      .replace(/bind :\d+\n {2}default_backend/, `bind 127.0.0.1:${port}\n  default_backend`)
      .replace('bind :8404', `bind 127.0.0.1:${health}`)
      .replace(/ resolvers cluster init-addr \S+/, '')
      .replaceAll(/^( {2}server \S+) \S+$/gm, (_, server: string) => {
        const { client, metrics } = places[at++]!;
        return `${server} 127.0.0.1:${client} port ${metrics}`;
      });
    equal('servers', at, places.length);
    const file = join(folder, 'local.cfg');
    writeFileSync(file, local);
    const child = spawn(haproxy, ['-db', '-f', file], {
      stdio: 'ignore',
      env: { PATH: process.env['PATH'], ...env(libraries) },
    });
    const started = new ProxyProcess(child);
    await until('the proxy listens', async () => {
      const answer = await fetch(`http://127.0.0.1:${health}/livez`).catch(() => undefined);
      return answer?.status === 200;
    });
    return started;
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.running) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await ended;
  }
}
