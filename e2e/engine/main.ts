/**
 * Loads, runs and builds the image in a container engine. See README.md.
 *
 *   main.ts <folder with release/> <docker> <etcdctl>
 */
import { mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { root } from '../../tools/release/bundle.ts';
import { freePorts } from '../../test/support/free-port.ts';
import { tool } from '../release/member.ts';
import { equal, Judge } from '../support/judge.ts';

const [folder = '.', program = 'docker', etcdctl = 'etcdctl'] = process.argv.slice(2);
const judge = new Judge('engine');
const release = join(folder, 'release');
const files = readdirSync(release);
const image = files.find((name) => /image-\w+\.tar$/.test(name))!;
const rootfs = files.find((name) => name.endsWith('-rootfs.tar'))!;
const version: string = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version;
const tag = `engram:${version}`;
const HEALTHY_MAX_MS = 60_000;
const docker = (...args: readonly string[]): Promise<string> =>
  tool(program, args, { env: { DOCKER_HOST: process.env['DOCKER_HOST'] ?? '' } });
const inspect = async <T>(name: string, format: string): Promise<T> =>
  JSON.parse(await docker('inspect', '--format', `{{json ${format}}}`, name));

await judge.check('the engine loads the image', async () => {
  equal('answer', (await docker('load', '--input', join(release, image))).trim(), `Loaded image: ${tag}`);
});

await judge.check('a container without rights, on a read-only file system, becomes healthy and serves', async () => {
  const [client, metrics] = (await freePorts(2)).map((port) => `http://127.0.0.1:${port}`) as [string, string];
  const limits = [
    '--memory',
    '512m',
    '--pids-limit',
    '100',
    '--cap-drop',
    'ALL',
    '--security-opt',
    'no-new-privileges',
  ];
  // By variables, because the health check of the image reads them. They and the flags of the image exclude each other.
  const variables = { LISTEN_CLIENT_URLS: client, ADVERTISE_CLIENT_URLS: client, LISTEN_METRICS_URLS: metrics };
  const env = Object.entries(variables).flatMap(([name, value]) => ['--env', `ETCD_${name}=${value}`]);
  const place = ['--network', 'host', '--read-only', '--tmpfs', '/tmp', '--health-interval', '1s'];
  await docker('run', '--detach', '--name', 'member', ...place, ...limits, ...env, tag, '--data-dir=/var/lib/engram');
  try {
    const begin = performance.now();
    for (;;) {
      const status = await inspect<string>('member', '.State.Health.Status');
      if (status === 'healthy') break;
      if (performance.now() - begin > HEALTHY_MAX_MS) throw new Error(`${status}: ${await docker('logs', 'member')}`);
      await pause(200);
    }
    console.log(`   healthy after ${Math.round(performance.now() - begin)} ms`);
    await tool(etcdctl, ['--endpoints', client, 'put', 'in', 'container']);
    const page = await (await fetch(`${metrics}/metrics`)).text();
    equal('the limit of the container', /^engram_memory_limit_bytes (\d+)/m.exec(page)?.[1], String(512 << 20));
    equal('a shell', (await tool.ends(program, ['exec', 'member', 'sh'], {})).code !== 0, true);
    await docker('restart', 'member');
    await pause(0);
    let value = '';
    for (const until = performance.now() + HEALTHY_MAX_MS; value === '' && performance.now() < until; await pause(100))
      value = (await tool.ends(etcdctl, ['--endpoints', client, 'get', 'in', '--print-value-only'])).stdout.trim();
    equal('value after a restart', value, 'container');
    await docker('stop', 'member');
    equal('code of the stop', await inspect<number>('member', '.State.ExitCode'), 0);
  } finally {
    await docker('rm', '--force', '--volumes', 'member');
  }
});

await judge.check('docker build with deploy/Dockerfile makes the same configuration', async () => {
  const context = join(folder, 'context');
  mkdirSync(context);
  renameSync(join(release, rootfs), join(context, rootfs));
  const labels = await inspect<Record<string, string>>(tag, '.Config.Labels');
  const values = { ROOTFS: rootfs, VERSION: version, REVISION: labels['org.opencontainers.image.revision']! };
  const given = Object.entries(values).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]);
  await docker('build', ...given, '--file', join(root, 'deploy/Dockerfile'), '--tag', 'built', context);
  for (const field of [
    'Env',
    'Labels',
    'Healthcheck',
    'Entrypoint',
    'Cmd',
    'User',
    'ExposedPorts',
    'Volumes',
    'WorkingDir',
    'StopSignal',
  ]) {
    const [one, other] = await Promise.all([tag, 'built'].map((name) => inspect<unknown>(name, `.Config.${field}`)));
    equal(field, JSON.stringify(other), JSON.stringify(one));
  }
});

judge.end();
