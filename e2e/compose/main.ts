/**
 * Starts what deploy/compose describes, as its files say, in a container engine. See README.md.
 *
 *   main.ts <folder with release/ and lab-image/> <docker> <docker compose> <etcdctl>
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { root } from '../../tools/release/bundle.ts';
import { Engine } from '../containers/engine.ts';
import { tool } from '../release/member.ts';
import { equal, Judge } from '../support/judge.ts';
import { Pd } from '../tikv/pd.ts';

const [folder = '.', docker = 'docker', program = 'docker-compose', etcdctl = 'etcdctl'] = process.argv.slice(2);
const STORES = ['tikv-0', 'tikv-1', 'tikv-2'];
/** Where three.yaml publishes the members. */
const CLIENTS = ['127.0.0.1:2379', '127.0.0.1:22379', '127.0.0.1:32379'];
const METRICS = ['127.0.0.1:2381', '127.0.0.1:22381', '127.0.0.1:32381'];
/** Where lab.yaml publishes PD. */
const PD = '127.0.0.1:12379';
const UP_MAX_MS = 180_000;
const REGISTERED_MAX_MS = 60_000;
const judge = new Judge('compose');

/** One of the files of deploy/compose, and what goes over it. */
class Project {
  readonly #files: readonly string[];

  constructor(file: string, ...over: readonly string[]) {
    this.#files = [join(root, 'deploy/compose', file), ...over].flatMap((name) => ['--file', name]);
  }

  call(...args: readonly string[]): Promise<string> {
    const env = { DOCKER_HOST: process.env['DOCKER_HOST'] ?? '', HOME: folder };
    return tool(program, [...this.#files, ...args], { env, withinMs: UP_MAX_MS });
  }

  /** Disposal ends it, and removes its data. What it has said is shown if it could not come up. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.call('down', '--volumes', '--timeout', '20');
  }

  async up(): Promise<number> {
    const begin = performance.now();
    try {
      await this.call('up', '--detach', '--wait');
    } catch (error) {
      throw new Error(await this.call('logs', '--tail', '20'), { cause: error });
    }
    return Math.round(performance.now() - begin);
  }
}

const ask = (endpoints: string, ...args: readonly string[]): Promise<string> =>
  tool(etcdctl, ['--endpoints', endpoints, ...args]);

async function metric(address: string, name: string): Promise<string | undefined> {
  const page = await (await fetch(`http://${address}/metrics`)).text();
  return new RegExp(`^${name} (\\S+)$`, 'm').exec(page)?.[1];
}

const engine = await Engine.connect(docker);
await engine.images(folder);

await judge.check('one.yaml: one command, and a member serves that has its data in a volume', async () => {
  await using project = new Project('one.yaml');
  console.log(`   up after ${await project.up()} ms`);
  await ask(CLIENTS[0]!, 'put', 'in', 'one');
  await project.call('restart');
  await project.up();
  equal('value after a restart', (await ask(CLIENTS[0]!, 'get', 'in', '--print-value-only')).trim(), 'one');
  equal('memory limit', await metric(METRICS[0]!, 'engram_memory_limit_bytes'), String(2 ** 30));
});

await judge.check('three.yaml: PD and three stores, then one command, and three members are one cluster', async () => {
  await using project = new Project('three.yaml', join(import.meta.dirname, 'lab.yaml'));
  const pd = new Pd(() => [PD]);
  // The lab's stores come one by one. TiKV's may come together.
  for (const [at, store] of STORES.entries()) {
    await project.call('up', '--detach', 'pd', store);
    const endMs = performance.now() + REGISTERED_MAX_MS;
    while ((await pd.storeCount()) <= at) {
      if (performance.now() > endMs) throw new Error(`PD does not know ${store}`);
      await sleep(100);
    }
    if (at === 0) await pd.forgetKeyspaces();
  }
  await pd.replicated(STORES.length);
  console.log(`   members up after ${await project.up()} ms`);
  const members = (await ask(CLIENTS[0]!, 'member', 'list')).trim().split('\n');
  equal('members', members.length, 3);
  for (const [at, client] of CLIENTS.entries()) {
    await ask(client, 'put', `at-${at}`, String(at));
    const others = CLIENTS.filter((other) => other !== client);
    for (const other of others)
      equal(`read at ${other}`, (await ask(other, 'get', `at-${at}`, '--print-value-only')).trim(), String(at));
  }
  const leads = await Promise.all(METRICS.map((address) => metric(address, 'etcd_server_is_leader')));
  equal('leaders', leads.toSorted().join(), '0,0,1');
  await project.call('kill', `engram-${leads.indexOf('1')}`);
  const [left] = CLIENTS.filter((_, at) => leads[at] === '0');
  await ask(left!, '--command-timeout=30s', 'put', 'after', 'a kill');
  equal('read behind a kill', (await ask(left!, 'get', 'after', '--print-value-only')).trim(), 'a kill');
});

judge.end();
