import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { readConfiguration } from '@engram/server';

const folder = join(import.meta.dirname, '../deploy');
const file = (path: string): string => readFileSync(join(folder, path), 'utf8');
const { version } = JSON.parse(readFileSync(join(folder, '../package.json'), 'utf8'));

interface Service {
  readonly image: string;
  readonly command: readonly string[];
  readonly volumes: readonly string[];
  readonly ports?: readonly string[];
  readonly depends_on?: readonly string[];
}
interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

test.each([
  { name: 'one', members: 1 },
  { name: 'three', members: 3 },
])(
  'compose/$name.yaml: members read their flags without a warning, and find each other by name',
  async ({ name, members }) => {
    const { services, volumes }: Compose = parse(file(`compose/${name}.yaml`), { merge: true });
    const own = Object.entries(services).filter(([, { image }]) => image === `engram:${version}`);
    expect(own.length).toBe(members);
    for (const [service, { command, volumes: mounts, ports }] of own) {
      const read = await readConfiguration(command, {});
      if (read.kind !== 'config') throw new Error(JSON.stringify(read));
      const { config } = read;
      expect(config.warnings).toEqual([]);
      expect(mounts).toEqual([expect.stringMatching(new RegExp(`:${config.dataDir}$`))]);
      // The health check of the image asks the port for clients of the default.
      expect(config.listenClientUrls.map(({ port }) => port)).toEqual([2379]);
      expect(ports?.map((each) => each.split(':').at(-1))).toEqual(['2379', '2381']);
      if (members === 1) continue;
      expect(config.name).toBe(service);
      const { initialMembers, pdEndpoints } = config.cluster!;
      if (!Array.isArray(initialMembers)) throw new Error('by DNS');
      expect(initialMembers.map((each: { readonly name: string }) => each.name).sort()).toEqual(
        own.map(([each]) => each).sort(),
      );
      for (const endpoint of pdEndpoints) expect(services).toHaveProperty(endpoint.split(':')[0]!);
    }
    for (const { volumes: mounts, depends_on: needs } of Object.values(services)) {
      for (const mount of mounts) expect(volumes).toHaveProperty(mount.split(':')[0]!);
      for (const each of needs ?? []) expect(services).toHaveProperty(each);
    }
  },
);

test('kubeadm: documents of one version, and the user of the static pod is the owner of its files', () => {
  const kinds = ['external', 'local'].flatMap((name) =>
    parseAllDocuments(file(`kubeadm/${name}.yaml`)).map((document) => document.toJS()),
  );
  expect(kinds.map(({ apiVersion }) => apiVersion)).toEqual(kinds.map(() => 'kubeadm.k8s.io/v1beta4'));
  expect(kinds.find(({ etcd }) => etcd?.local !== undefined).etcd.local.imageTag).toBe(version);
  expect(parse(file('kubeadm/patches/etcd+strategic.yaml')).spec.securityContext.runAsUser).toBe(0);
});
