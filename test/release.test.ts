import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readConfiguration } from '@engram/server';
import { readDockerfile } from '../tools/release/dockerfile.ts';
import { runtimeSettings } from '../tools/release/executable.ts';
import { pinnedNode } from '../tools/release/node-binary.ts';

const root = join(import.meta.dirname, '..');
const text = (path: string): string => readFileSync(join(root, path), 'utf8');
const image = readDockerfile(text('deploy/Dockerfile'), { VERSION: '1.2.3' });

test('the image and the unit run node as the repository does', () => {
  const { flags, environment } = runtimeSettings();
  expect(flags.length).toBeGreaterThan(2);
  for (const [name, value] of Object.entries(environment)) {
    expect(image.Env).toContain(`${name}=${value}`);
    expect(text('deploy/systemd/engram.service')).toContain(`Environment=${name}=${value}\n`);
  }
});

test('what the image starts is a configuration, and its health check asks one of its URLs', async () => {
  const started = await readConfiguration(image.Cmd!, {});
  const asked = await readConfiguration(image.Healthcheck!.Test.slice(2), {});
  if (started.kind !== 'config' || asked.kind !== 'health') throw new Error(`${started.kind}, ${asked.kind}`);
  const ports = started.config.listenClientUrls.map(({ port }) => port);
  expect(ports).toContain(asked.config.listenClientUrls[0]!.port);
  expect(image.Volumes).toEqual({ [started.config.dataDir]: {} });
  for (const { port } of [...started.config.listenClientUrls, ...started.config.listenMetricsUrls])
    expect(image.ExposedPorts).toHaveProperty(`${port}/tcp`);
});

test('the image sets no variable that would exclude a flag', () => {
  expect(image.Env.filter((each) => each.startsWith('ETCD_'))).toEqual([]);
});

test('the example of a configuration file has known keys and no warning', async () => {
  const read = await readConfiguration(['--config-file', join(root, 'deploy/systemd/engram.yaml')], {});
  expect(read).toMatchObject({ kind: 'config', config: { dataDir: '/var/lib/engram', warnings: [] } });
});

test('the reader of the Dockerfile knows its instructions, and refuses others', () => {
  expect(image).toMatchObject({ User: '65532:65532', StopSignal: 'SIGTERM', Entrypoint: ['/usr/bin/engram'] });
  expect(image.Labels['org.opencontainers.image.version']).toBe('1.2.3');
  expect(image.Healthcheck).toMatchObject({ Interval: 10e9, StartPeriod: 60e9, Retries: 3 });
  for (const line of ['FROM debian', 'RUN true', 'COPY a /b', 'ENTRYPOINT engram', 'ADD a.zip /', `ENV A=\${NOTHING}`])
    expect(() => readDockerfile(line, {}), line).toThrow(/^(Dockerfile|Unexpected token)/);
});

test('a release is of one version: of all packages, of the program, and of the change log', () => {
  const { version } = JSON.parse(text('package.json'));
  expect(text('packages/server/src/version.ts')).toContain(`ENGRAM_VERSION = '${version}'`);
  expect(text('packages/engramctl/src/version.ts')).toContain(`ENGRAMCTL_VERSION = '${version}'`);
  expect(text('CHANGELOG.md')).toMatch(new RegExp(`^## ${version.replaceAll('.', '\\.')}( |$)`, 'm'));
  expect(text('docs/COMPATIBILITY.md')).toContain(version);
  expect(pinnedNode('x64').version).toBe(pinnedNode('arm64').version);
});

const formats = [
  ['checkpoint', 'packages/coder/src/checkpoint.ts', /^const FORMAT_VERSION = (\d+);$/m],
  ['segment', 'packages/storage-segment/src/format/layout.ts', /^const FORMAT_VERSION = (\d+);$/m],
  ['manifest', 'packages/storage-segment/src/manifest/manifest.ts', /^const FORMAT_VERSION = (\d+);$/m],
  ['state file', 'packages/storage-leveldb/src/state-file.ts', /^const FORMAT_VERSION = (\d+);$/m],
  ['seal', 'packages/storage-tikv/src/format/seal-record.ts', /^const FORMAT = (\d+);$/m],
  ['batch', 'packages/storage-tikv/src/format/batch-format.ts', /^const FORMAT = (\d+);$/m],
  ['image root', 'packages/storage-tikv/src/format/image-root.ts', /^const FORMAT = (\d+);$/m],
  ['image piece', 'packages/storage-tikv/src/format/image-piece.ts', /^const FORMAT = (\d+);$/m],
  ['cluster root', 'packages/storage-tikv/src/cluster-root.ts', /^const FORMAT = (\d+);$/m],
] as const;

test.each(formats)('docs/COMPATIBILITY.md has the format of the %s that the program writes', (name, file, pattern) => {
  const written = pattern.exec(text(file))?.[1];
  expect(written, file).toBeDefined();
  expect(text('docs/COMPATIBILITY.md')).toContain(`| ${name} | ${written} |`);
});
