import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments, stringify } from 'yaml';
import { root } from '../../tools/release/bundle.ts';
import { cases } from '../chart/cases.ts';
import { equal, type Judge } from '../support/judge.ts';
import type { KindCluster, Manifest } from './kind-cluster.ts';

/** Of objects whose definitions are not in the cluster. */
const FOREIGN = /^(monitoring\.coreos\.com|cert-manager\.io|(core\.)?pingcap\.com)\//;

const parse = (text: string): readonly Manifest[] =>
  parseAllDocuments(text)
    .map((document) => document.toJS() as Manifest | null)
    .filter((each) => each !== null && !FOREIGN.test(String(each['apiVersion']))) as readonly Manifest[];

/** The API server takes the chart's objects, for all values of e2e/chart, and deploy/manifests, and knows each of their fields. */
export async function judgeDryRun(judge: Judge, cluster: KindCluster, folder: string): Promise<void> {
  // A Helm that is built from its module takes an old version of Kubernetes for its own.
  const version = process.env['VERSION'] ?? '';
  for (const namespace of ['db', 'engram']) await cluster.kubectl('create', 'namespace', namespace);
  const taken = async (namespace: string, manifests: readonly Manifest[]): Promise<void> => {
    const said = await cluster.dryRun(namespace, manifests);
    equal('objects taken', said.match(/ created \(server dry run\)$/gm)?.length ?? 0, manifests.length);
  };

  for (const [name, values] of Object.entries(cases)) {
    await judge.check(`${name}: the API server takes every object of the chart`, async () => {
      const file = join(folder, 'dry-run-values.yaml');
      writeFileSync(file, stringify(values));
      const chart = join(root, 'helm/engram');
      await taken(
        'db',
        parse(
          await cluster.helm(
            'template',
            'store',
            chart,
            '--namespace=db',
            '--kube-version',
            version,
            `--values=${file}`,
          ),
        ),
      );
    });
  }
  for (const name of ['one-member', 'three-members']) {
    await judge.check(`deploy/manifests/${name}.yaml: the API server takes every object`, async () => {
      const text = readFileSync(join(root, 'deploy/manifests', `${name}.yaml`), 'utf8');
      await taken('engram', parse(text));
      const misspelt = parse(text.replace('terminationGracePeriodSeconds', 'terminationGraceSeconds'));
      const refusal = await cluster.dryRun('engram', misspelt).then(
        () => 'taken',
        (error: unknown) => String(error),
      );
      if (!/unknown field "(\S+\.)?terminationGraceSeconds"/.test(refusal)) throw new Error(refusal);
    });
  }
}
