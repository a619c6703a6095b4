import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { root } from '../../tools/release/bundle.ts';
import { EtcdClient } from '../../test/support/etcd-client.ts';
import { Certificates } from '../cluster/certificates.ts';
import { type ClusterPlace, leaderAmong, MemberProcess } from '../cluster/cluster-member.ts';
import { equal, type Judge } from '../support/judge.ts';
import { Lab } from '../tikv/lab.ts';
import { createdUnder } from './created-objects.ts';
import { KindCluster, network, run } from './kind-cluster.ts';
import { timed } from './timed.ts';

const KUBEADM = join(root, 'deploy/kubeadm');
const REPOSITORY = 'engram.local';
const STATIC_API_PORT = 34_444;
const EXTERNAL_API_PORT = 34_445;
/** And the ports behind them. PD and the stores have others. */
const CLIENT_PORTS = [12_379, 13_379, 14_379];
const NAMESPACE = 'kube-system';
/** All that an API server keeps. */
const REGISTRY = { key: Buffer.from('/registry/'), rangeEnd: Buffer.from('/registry0'), countOnly: true };
/** As long as a supervisor waits before it starts a process again. */
const AWAY_MS = 3_000;

/** Reads one of the files for kubeadm, as documents that kind merges into its own. */
const patches = (name: string, change: (text: string) => string): readonly string[] =>
  change(readFileSync(join(KUBEADM, name), 'utf8')).split(/^---$/m);

/**
 * A cluster whose control plane has Engram as its static pod in etcd's place, by deploy/kubeadm/local.yaml. It is killed while pods
 * are created. `image`: of Engram; `nodeImage`: of a node.
 */
export async function judgeStaticPod(judge: Judge, folder: string, image: string, nodeImage: string): Promise<void> {
  const [, tag] = image.split(':') as [string, string];
  await run('docker', ['tag', image, `${REPOSITORY}/etcd:${tag}`]);
  const node = await timed('a node with the image of Engram', () =>
    run(join(import.meta.dirname, 'node-with-image'), [nodeImage, `${REPOSITORY}/etcd:${tag}`, folder], {
      maxMs: 600_000,
    }),
  );
  const cluster = await timed('kind create cluster, a static pod in place of etcd', () =>
    KindCluster.create(folder, {
      name: 'static',
      image: node.trim(),
      workers: 0,
      apiPort: STATIC_API_PORT,
      kubeadmPatches: patches('local.yaml', (text) =>
        text.replaceAll('REGISTRY', REPOSITORY).replace(/(imageTag:) .*/, `$1 ${tag}`),
      ),
      mounts: { '/etc/kubernetes/patches': join(KUBEADM, 'patches') },
    }),
  );
  console.log(`   memory: ${await cluster.memory()}`);
  const pod = `etcd-${cluster.controlPlane}`;
  await judge.check(
    'a control plane on Engram as its static pod: nothing is lost, and nothing listed again',
    async () => {
      const running = await cluster.kubectl('--namespace', NAMESPACE, 'logs', pod);
      if (!running.includes('"starting a node"')) throw new Error(`${pod} is no Engram:\n${running.slice(0, 1_000)}`);
      await createdUnder(cluster, 'kill -9 of the static pod', async () => {
        const before = await cluster.restarts(pod, NAMESPACE);
        await cluster.signal(pod, 'SIGKILL', NAMESPACE);
        await cluster.startedAgain(pod, before, { namespace: NAMESPACE });
      });
    },
  );
  await cluster.freeze();
}

/**
 * A cluster whose etcd is three members of Engram outside of it, over PD and three stores, by deploy/kubeadm/external.yaml with
 * certificates. The leader is killed while pods are created.
 */
export async function judgeExternalEtcd(judge: Judge, folder: string, nodeImage: string): Promise<void> {
  const host = await network();
  const files = new Certificates(join(folder, 'external-etcd'));
  files.authority('ca');
  files.certify('server', { by: 'ca', commonName: 'engram', hostname: 'localhost', more: [`IP:${host}`] });
  files.certify('apiserver-etcd-client', { by: 'ca', commonName: 'kube-apiserver', hostname: 'localhost' });
  const tls = [
    '--client-cert-auth',
    ...['cert-file=server.crt', 'key-file=server.key', 'trusted-ca-file=ca.crt'].map(flagOf),
  ];
  function flagOf(flag: string): string {
    const [name, file] = flag.split('=') as [string, string];
    return `--${name}=${files.file(file)}`;
  }

  const lab = await timed('PD and three stores', () => Lab.startReplicated(join(folder, 'lab'), { strict: false }));
  const place: ClusterPlace = {
    pd: lab.pdAddresses,
    prefix: 'kubernetes',
    members: CLIENT_PORTS.map((clientPort, at) => ({
      name: `infra${at + 1}`,
      clientPort,
      peerPort: clientPort + 1,
      dataDir: join(folder, `infra${at + 1}`),
    })),
  };
  const members = place.members.map((member) => {
    const outside = `https://${host}:${member.clientPort}`;
    const urls = `--listen-client-urls=http://127.0.0.1:${member.clientPort},${outside}`;
    return new MemberProcess(place, member, [urls, `--advertise-client-urls=${outside}`, ...tls]);
  });
  for (const member of members) member.start();
  await Promise.all(members.map((member) => member.ready()));

  const pki = '/etc/kubernetes/pki';
  const mounted = join(folder, 'external-etcd-mounts');
  mkdirSync(mounted);
  const mounts: Record<string, string> = {};
  for (const [name, file] of [
    ['etcd/ca.crt', 'ca.crt'],
    ['apiserver-etcd-client.crt', 'apiserver-etcd-client.crt'],
    ['apiserver-etcd-client.key', 'apiserver-etcd-client.key'],
  ] as const) {
    writeFileSync(join(mounted, file), readFileSync(files.file(file)));
    mounts[`${pki}/${name}`] = join(mounted, file);
  }
  let at = 0;
  const cluster = await timed('kind create cluster, three members outside in place of etcd', () =>
    KindCluster.create(folder, {
      name: 'external',
      image: nodeImage,
      workers: 0,
      apiPort: EXTERNAL_API_PORT,
      kubeadmPatches: patches('external.yaml', (text) =>
        text.replaceAll(/https:\/\/[\d.]+:2379/g, () => `https://${host}:${CLIENT_PORTS[at++]}`),
      ),
      mounts,
    }),
  );
  equal('endpoints of external.yaml', at, CLIENT_PORTS.length);
  console.log(`   memory: ${await cluster.memory()}`);
  await judge.check('a control plane on three members: nothing is lost, and nothing listed again', async () => {
    using client = new EtcdClient(members[0]!.endpoint);
    const { count } = await client.range(REGISTRY);
    if (count === 0) throw new Error('the API server keeps nothing in these members');
    await createdUnder(cluster, 'kill -9 of the leader', async () => {
      const leader = await leaderAmong(members, 500);
      await leader.kill();
      await sleep(AWAY_MS);
      leader.start();
      await leader.ready();
    });
  });
  await cluster.freeze();
  for (const member of members) await member.stop().catch(() => undefined);
  await lab[Symbol.asyncDispose]();
}
