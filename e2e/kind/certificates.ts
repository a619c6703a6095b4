import { join } from 'node:path';
import { Certificates } from '../cluster/certificates.ts';
import { RotationFiles, rotate, type SecuredMembers, SIDES } from '../cluster/rotation.ts';
import type { Judge } from '../support/judge.ts';
import type { KindCluster, Manifest } from './kind-cluster.ts';
import { timed } from './timed.ts';
import { ChartRelease, nodePort, type PodLab } from './workloads.ts';

const MEMBERS = 3;
const FIRST_PORT = 30_040;
const FIRST_PEER_PORT = 30_050;
const RELEASE = 'secured';
const PODS = ['--selector', `app.kubernetes.io/instance=${RELEASE},app.kubernetes.io/component=member`];

export interface Rotation {
  readonly cluster: KindCluster;
  readonly lab: PodLab;
  /** Of the certificates. */
  readonly folder: string;
}

const secretsOf = (files: Parameters<SecuredMembers['give']>[0]): readonly Manifest[] =>
  SIDES.map((side) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: `${RELEASE}-${side}` },
    data: {
      'ca.crt': files[side].ca.toString('base64'),
      'tls.crt': files[side].cert.toString('base64'),
      'tls.key': files[side].key.toString('base64'),
    },
  }));

/**
 * The chart on TiKV with certificates for clients and members, all of them asked for. Its secrets get new certificates, and then
 * those of a new authority, while clients write and watch. It is gone at the end.
 */
export async function judgeRotation(judge: Judge, { cluster, lab, folder }: Rotation): Promise<void> {
  const names = [`DNS:*.${RELEASE}-headless.default.svc.cluster.local`, `IP:${cluster.address}`];
  const files = new RotationFiles(new Certificates(join(folder, 'certificates')), RELEASE, names);
  await cluster.apply(...secretsOf(files.first));
  const secured = new ChartRelease(cluster, RELEASE, FIRST_PORT, {
    replicaCount: String(MEMBERS),
    'storage.type': 'tikv',
    'tikv.pdEndpoints': `{${lab.address}}`,
    initialClusterToken: RELEASE,
    'persistence.enabled': 'false',
    'auth.client.secureTransport': 'true',
    'auth.client.enableAuthentication': 'true',
    'auth.client.existingSecret': `${RELEASE}-client`,
    'auth.peer.secureTransport': 'true',
    'auth.peer.existingSecret': `${RELEASE}-peer`,
  });
  const members = await timed('helm install of three members with certificates', () => secured.install(MEMBERS));
  await cluster.apply(
    ...members.map(({ name }, at) =>
      nodePort(`${name}-peer`, { 'statefulset.kubernetes.io/pod-name': name }, 2380, FIRST_PEER_PORT + at),
    ),
  );

  let rotations = 0;
  const inCluster: SecuredMembers = {
    endpoints: {
      client: members.map(({ endpoint }) => endpoint),
      peer: members.map((_, at) => `${cluster.address}:${FIRST_PEER_PORT + at}`),
    },
    give: async (given) => {
      await cluster.apply(...secretsOf(given));
      rotations += 1;
      // kubelet looks at the secrets of a pod when the pod changes, or once in a minute.
      await cluster.kubectl('annotate', 'pods', ...PODS, '--overwrite', `rotation=number-${rotations}`);
    },
    processes: async () => {
      const all = members.map(async ({ name }) => `${await cluster.uid(name)} ${await cluster.restarts(name)}`);
      return (await Promise.all(all)).join();
    },
    killAndStart: async (at) => {
      await cluster.signal(members[at]!.name, 'SIGKILL');
      await secured.ready();
    },
  };
  await judge.check(
    'new certificates and a new authority in secrets are taken without a restart, and no call fails',
    async () => {
      console.log(`   ${await rotate(inCluster, files, timed)}`);
    },
  );
  await cluster.helm('uninstall', RELEASE, '--wait');
}
