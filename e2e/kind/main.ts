/**
 * A cluster of kind without a registry, the chart in it with one member on its own disk and with three on PD and stores in
 * pods, driven from pods and from outside, under Kubernetes' own faults; judged as e2e/chaos judges. See README.md.
 *
 *   main.ts <folder with release/ and lab-image/> --seconds N [--seed N] [--only fault,fault]
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Prng } from '@engram/sim';
import { Judge } from '../support/judge.ts';
import { faults } from './faults.ts';
import { KindCluster, run } from './kind-cluster.ts';
import { judgeOne } from './one-member.ts';
import { judgeThree } from './three-members.ts';
import { timed } from './timed.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '120' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 32) },
    only: { type: 'string', default: Object.keys(faults).join() },
  },
});
const folder = positionals[0] ?? '.';
const seed = Number(values.seed);
const prng = new Prng(seed);
console.log(`--seed ${seed}`);
const judge = new Judge('kind');
const labImage = 'engram-lab:e2e';

const release = join(folder, 'release');
const archive = readdirSync(release).find((name) => /image-\w+\.tar$/.test(name))!;
const image = /^Loaded image: (\S+)$/m.exec(await run('docker', ['load', '--input', join(release, archive)]))![1]!;
await run('docker', ['build', '--build-arg', `ENGRAM=${image}`, '--tag', labImage, join(folder, 'lab-image')]);
const cluster = await timed('kind create cluster', () => KindCluster.create(folder, process.env['NODE_IMAGE'] ?? ''));
await timed('kind load', () => cluster.load(image, labImage));
console.log(`   memory: ${await cluster.memory()}`);

await judgeOne(judge, { cluster, labImage, prng });
await judgeThree(judge, {
  cluster,
  labImage,
  prng,
  seconds: Number(values.seconds),
  chosen: values.only.split(','),
});
console.log(`   memory: ${await cluster.memory()}`);
judge.end();
process.exit();
