/**
 * Installs and starts what a release consists of. See README.md.
 *
 *   main.ts <folder with first/ and second/> <processor> <etcdctl> <etcd>
 */
import { createHash } from 'node:crypto';
import { chownSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { equal, Judge } from '../support/judge.ts';
import { freePorts } from '../../test/support/free-port.ts';
import { type Command, Member, tool } from './member.ts';

const [folder = '.', machine = 'x64', etcdctl = 'etcdctl', etcd = 'etcd'] = process.argv.slice(2);
const version: string = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')).version;
const first = join(folder, 'first');
const oci = machine === 'arm64' ? 'arm64' : 'amd64';
const judge = new Judge('release');
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

interface Manifest {
  readonly config: { readonly digest: string };
  readonly layers: readonly { readonly digest: string; readonly size: number }[];
}
interface Config {
  readonly config: {
    readonly Env: readonly string[];
    readonly User: string;
    readonly Entrypoint: readonly string[];
    readonly Cmd: readonly string[];
    readonly Healthcheck: { readonly Test: readonly string[] };
    readonly Labels: Readonly<Record<string, string>>;
  };
  readonly rootfs: { readonly diff_ids: readonly string[] };
}

await judge.check('two builds from two folders have the same bytes', async () => {
  const names = readdirSync(first).sort();
  equal('files', readdirSync(join(folder, 'second')).sort().join(' '), names.join(' '));
  equal('tarballs and images', names.length, 5);
  const different = names.filter((name) => {
    const [one, other] = ['first', 'second'].map((each) => sha256(readFileSync(join(folder, each, name))));
    return one !== other;
  });
  equal('different files', different.join(' '), '');
});

await judge.check('SHA256SUMS are those of the files', async () => {
  await tool('sha256sum', ['--check', '--strict', '--quiet', 'SHA256SUMS'], { cwd: first });
});

// As the guide says: unpacked, and its parts copied below one folder.
const installed = join(folder, 'installed');
for (const name of [`engram-${version}-linux-${machine}`, `engram-${version}-node24`])
  await tool('tar', ['-xzf', join(first, `${name}.tar.gz`), '-C', folder]);
cpSync(join(folder, `engram-${version}-linux-${machine}`), installed, { recursive: true });
const executable: Command = { program: join(installed, 'bin/engram'), args: [] };
// The launcher has the node of this run, and no npm and no repository.
const portable: Command = { program: join(folder, `engram-${version}-node24`, 'bin/engram'), args: [] };

for (const [what, command] of [
  ['executable', executable],
  ['bundle for node 24', portable],
] as const) {
  await judge.check(`the ${what} says its version`, async () => {
    const text = await tool(command.program, [...command.args, '--version']);
    equal('last line', text.trimEnd().split('\n').at(-1), `Engram Version: ${version}`);
  });

  await judge.check(`engramctl beside the ${what} checks a member`, async () => {
    const ctl = `${command.program}ctl`;
    equal('version', (await tool(ctl, ['version'])).split('\n')[0], `engramctl version: ${version}`);
    await using member = await Member.start(command, join(folder, `data-ctl-${what.slice(0, 3)}`));
    const report = await tool(ctl, ['check', '--endpoints', member.client]);
    equal('last line', report.trimEnd().split('\n').at(-1), 'OK: nothing is wrong');
    const none = await tool.ends(ctl, ['check', '--endpoints', '127.0.0.1:1']);
    equal('code of nobody', none.code, 2);
  });

  await judge.check(
    `the ${what} serves etcdctl from a folder that holds nothing else, and keeps its data`,
    async () => {
      const data = join(folder, `data-${what.slice(0, 3)}`);
      for (const start of ['first', 'second']) {
        await using member = await Member.start(command, data);
        if (start === 'first') {
          await tool(etcdctl, ['--endpoints', member.client, 'put', 'greeting', 'hello']);
          console.log(`   ${what}: ready after ${member.readyMs} ms, ${member.residentMiB()} MiB resident`);
        }
        const value = await tool(etcdctl, ['--endpoints', member.client, 'get', 'greeting', '--print-value-only']);
        equal('value', value.trim(), 'hello');
        equal('health', (await member.health()).trim(), `${member.metrics}: ready`);
        equal('code of the stop', await member.stop(), 0);
      }
    },
  );
}

await judge.check('the executable reads the example configuration', async () => {
  const file = join(folder, `engram-${version}-linux-${machine}`, 'systemd/engram.yaml');
  // Nobody listens at its URLs: the flags are read, and the question fails.
  const { code, stderr } = await tool.ends(executable.program, ['health', '--config-file', file]);
  equal('code', code, 1);
  equal('answer', stderr.startsWith('http://127.0.0.1:2381: '), true);
});

await judge.check('systemd knows every line of the unit', async () => {
  const unit = join(folder, `engram-${version}-linux-${machine}`, 'systemd/engram.service');
  const { stderr, stdout } = await tool.ends('systemd-analyze', ['verify', unit]);
  const ours = `${stdout}${stderr}`
    .split('\n')
    .filter((line) => line.includes('engram.service') && !/is not executable|Man page/.test(line));
  equal('complaints', ours.join('\n'), '');
});

const image = join(folder, 'image');
const root = join(folder, 'root');
mkdirSync(image);
mkdirSync(root);
await tool('tar', ['-xf', join(first, `engram-${version}-image-${oci}.tar`), '-C', image]);
const blob = (digest: string): Buffer => readFileSync(join(image, 'blobs', digest.replace(':', '/')));
const json = <T>(bytes: Uint8Array): T => JSON.parse(Buffer.from(bytes).toString('utf8'));
const index = json<{ readonly manifests: readonly { readonly digest: string }[] }>(
  readFileSync(join(image, 'index.json')),
);
const manifest = json<Manifest>(blob(index.manifests[0]!.digest));
const config = json<Config>(blob(manifest.config.digest));
const layer = manifest.layers[0]!;
await tool('tar', ['-xzpf', join(image, 'blobs', layer.digest.replace(':', '/')), '-C', root]);

await judge.check('the image: digests, sizes, and the same parts for Docker as for others', async () => {
  for (const digest of [index.manifests[0]!.digest, manifest.config.digest, layer.digest])
    equal(digest, `sha256:${sha256(blob(digest))}`, digest);
  equal('size', blob(layer.digest).length, layer.size);
  const rootfs = readFileSync(join(first, `engram-${version}-image-${oci}-rootfs.tar`));
  equal('file system', config.rootfs.diff_ids.join(), `sha256:${sha256(rootfs)}`);
  const [docker] = json<readonly { Config: string; Layers: string[]; RepoTags: string[] }[]>(
    readFileSync(join(image, 'manifest.json')),
  );
  equal(
    'for Docker',
    `${docker!.Config} ${docker!.Layers}`.replaceAll('blobs/sha256/', 'sha256:'),
    [manifest.config.digest, layer.digest].join(' '),
  );
  equal('tag', docker!.RepoTags.join(), `engram:${version}`);
});

await judge.check(
  'the image has no shell, no package manager, nothing set-uid, and one folder of its user',
  async () => {
    const files = readdirSync(root, { recursive: true }).map(String);
    const names = files.map((file) => file.slice(file.lastIndexOf('/') + 1));
    const unwanted = ['sh', 'bash', 'dash', 'busybox', 'apt', 'apt-get', 'dpkg', 'apk', 'npm', 'npx', 'node', 'env'];
    equal('tools', names.filter((name) => unwanted.includes(name)).join(' '), '');
    equal('programs', readdirSync(join(root, 'usr/bin')).sort().join(' '), 'engram engramctl etcd');
    const stats = files.map((file) => ({ file, stat: statSync(join(root, file), { throwIfNoEntry: false }) }));
    equal('set-uid', stats.filter(({ stat }) => stat !== undefined && (stat.mode & 0o6000) !== 0).length, 0);
    if (process.getuid?.() === 0) {
      const owned = stats.filter(({ stat }) => stat !== undefined && stat.uid !== 0).map(({ file }) => file);
      equal('of the user', owned.join(' '), 'var/lib/engram');
    }
    const writable = stats.filter(({ stat }) => stat?.isFile() === true && (stat.mode & 0o022) !== 0);
    equal('files that others may write', writable.map(({ file }) => file).join(' '), '');
  },
);

await judge.check('the image says what it is, and its bill of materials names what is inside', async () => {
  const { User, Entrypoint, Healthcheck, Labels } = config.config;
  equal('user', User, '65532:65532');
  equal('entry', Entrypoint.join(), '/usr/bin/engram');
  equal('health', Healthcheck.Test.join(' '), 'CMD /usr/bin/engram health');
  equal('version', Labels['org.opencontainers.image.version'], version);
  equal('revision', Labels['org.opencontainers.image.revision'], process.env['REVISION'] ?? 'unknown');
  const bill = json<{ readonly components: readonly { readonly name: string }[] }>(
    readFileSync(join(root, 'usr/share/engram/sbom.cdx.json')),
  );
  const names = new Set(bill.components.map(({ name }) => name));
  for (const name of ['classic-level', 'pino', `node-linux-${machine}`, 'libc6', 'libstdc++6'])
    equal(`component ${name}`, names.has(name), true);
  equal('of development', names.has('vitest'), false);
});

if (process.getuid?.() === 0) {
  await judge.check('the image starts as its user on a read-only file system, and its health check works', async () => {
    const data = join(folder, 'volume');
    mkdirSync(data);
    chownSync(data, 65532, 65532);
    for (const each of ['proc', 'dev']) mkdirSync(join(root, each));
    const [user] = config.config.User.split(':');
    const script = [
      'mount --bind "$0" "$0"',
      'mount -t tmpfs -o mode=1777 tmpfs "$0/tmp"',
      'mount --bind "$1" "$0/var/lib/engram"',
      'mount --rbind /proc "$0/proc"',
      'mount --rbind /dev "$0/dev"',
      'mount -o remount,bind,ro "$0"',
      'root=$0 user=$2',
      'shift 2',
      `exec /usr/sbin/chroot --userspec="$user" "$root" ${config.config.Entrypoint.join(' ')} "$@"`,
    ].join(' && ');
    const command: Command = {
      program: 'unshare',
      args: ['--mount', 'sh', '-c', script, root, data, `${user}:${user}`],
      env: Object.fromEntries(config.config.Env.map((each) => each.split('=') as [string, string])),
    };
    const text = await tool(command.program, [...command.args, '--version'], command);
    equal('version', text.includes(`Engram Version: ${version}`), true);
    const logging = [...command.args, '--log-outputs', '/usr/share/log'];
    const elsewhere = await tool.ends(command.program, logging, command);
    equal('a file outside the volume', /EROFS/.exec(elsewhere.stderr)?.[0] ?? elsewhere.stderr, 'EROFS');
    await using member = await Member.start(command, '/var/lib/engram');
    await tool(etcdctl, ['--endpoints', member.client, 'put', 'in', 'image']);
    equal('user of the process', readFileSync(`/proc/${member.pid}/status`, 'utf8').match(/^Uid:\t(\d+)/m)?.[1], user);
    equal('health', (await member.health()).trim(), `${member.metrics}: ready`);
    equal('data in the volume', existsSync(join(data, 'engram')), true);
    equal('code of the stop', await member.stop(), 0);
    const { code } = await tool.ends(command.program, [...command.args, ...member.healthArgs], command);
    equal('health of a member that is gone', code, 1);
  });
} else {
  console.log('not tried: the image on a read-only file system (needs root)');
}

const mebibytes = (file: string): string => (statSync(file).size / 2 ** 20).toFixed(1);
const [client, peer] = await freePorts(2);
const started = performance.now();
await using other = await Member.startEtcd(etcd, join(folder, 'etcd'), client!, peer!);
console.log(
  `   beside it etcd: ready after ${Math.round(performance.now() - started)} ms, ${other.residentMiB()} MiB resident, ` +
    `${mebibytes(etcd)} MiB; the executable ${mebibytes(executable.program)} MiB, the image ` +
    `${mebibytes(join(first, `engram-${version}-image-${oci}.tar`))} MiB`,
);
await other.stop();
judge.end();
