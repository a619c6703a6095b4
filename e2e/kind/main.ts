/**
 * Clusters of kind without a registry: the chart in one of them with one member on its own disk and with several on PD and stores in
 * pods, driven from pods and from outside, under Kubernetes' own faults; judged as e2e/chaos judges. Others have Engram in the
 * place of their own etcd. See README.md.
 *
 *   main.ts <folder with release/ and lab-image/> --seconds N [--seed N] [--only fault,fault] [--parts part,part]
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { campaignArguments } from '../support/campaign-arguments.ts';
import { Judge } from '../support/judge.ts';
import { judgeRotation } from './certificates.ts';
import { judgeExternalEtcd, judgeStaticPod } from './control-plane.ts';
import { judgeDryRun } from './dry-run.ts';
import { faults } from './faults.ts';
import { KindCluster, run } from './kind-cluster.ts';
import { judgeOne } from './one-member.ts';
import { judgeScale } from './scale.ts';
import { judgeThree } from './three-members.ts';
import { timed } from './timed.ts';
import { PodLab } from './workloads.ts';

/** In a cluster with workers, with PD and stores in pods. */
const TIKV_PARTS = ['three', 'scale', 'certificates'];
/** In the same cluster. */
const CHART_PARTS = ['dry-run', 'one', ...TIKV_PARTS];
const PARTS = [...CHART_PARTS, 'static-pod', 'external-etcd'];
const WORKERS = 3;
const API_PORT = 34_443;

const { positionals, prng, seconds, chosen, parts } = campaignArguments({ faults, seconds: 120, parts: PARTS });
const folder = positionals[0] ?? '.';
const judge = new Judge('kind');
const labImage = 'engram-lab:e2e';
const nodeImage = process.env['NODE_IMAGE'] ?? '';

const release = join(folder, 'release');
const archive = readdirSync(release).find((name) => /image-\w+\.tar$/.test(name))!;
const image = /^Loaded image: (\S+)$/m.exec(await run('docker', ['load', '--input', join(release, archive)]))![1]!;

/** What fails outside of a check counts as one that failed, and what comes behind it begins. */
async function attempt(what: string, work: () => Promise<void>): Promise<void> {
  await timed(what, work).catch((error: unknown) => judge.check(what, () => Promise.reject(error)));
}

async function part(name: string, work: () => Promise<void>): Promise<void> {
  if (parts.includes(name)) await attempt(`the part ${name}`, work);
}

await judge.run(async () => {
  if (CHART_PARTS.some((name) => parts.includes(name))) await attempt('the cluster of the chart', inOneCluster);
  await part('static-pod', () => judgeStaticPod(judge, folder, image, nodeImage));
  await part('external-etcd', () => judgeExternalEtcd(judge, folder, nodeImage));
});

async function inOneCluster(): Promise<void> {
  await run('docker', ['build', '--build-arg', `ENGRAM=${image}`, '--tag', labImage, join(folder, 'lab-image')]);
  const options = { name: 'engram', image: nodeImage, workers: WORKERS, apiPort: API_PORT };
  const cluster = await timed('kind create cluster', () => KindCluster.create(folder, options));
  await timed('kind load', () => cluster.load(image, labImage));
  console.log(`   memory: ${await cluster.memory()}`);
  await part('dry-run', () => judgeDryRun(judge, cluster, folder));
  await part('one', () => judgeOne(judge, { cluster, labImage, prng }));
  if (TIKV_PARTS.some((name) => parts.includes(name))) {
    const lab = await timed('PD and three stores in pods', () => PodLab.start(cluster, labImage));
    await part('three', () => judgeThree(judge, { cluster, labImage, lab, prng, seconds, chosen }));
    await part('scale', () => judgeScale(judge, { cluster, lab, prng }));
    await part('certificates', () => judgeRotation(judge, { cluster, lab, folder }));
  }
  console.log(`   memory: ${await cluster.memory()}`);
  await cluster.freeze();
}
