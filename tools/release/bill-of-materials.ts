import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './bundle.ts';
import type { Library } from './libraries.ts';
import { type Architecture, pinnedNode } from './node-binary.ts';
import { runTool } from './run-tool.ts';

interface Component {
  readonly type: string;
  readonly name: string;
  readonly version: string;
  readonly purl?: string;
  readonly [field: string]: unknown;
}

interface Bill {
  serialNumber?: string;
  metadata: { timestamp?: string; component: { name: string } & Record<string, unknown> };
  components: Component[];
  readonly [field: string]: unknown;
}

/**
 * What a release consists of, as CycloneDX: the npm packages that run, node for the given processors, and libraries. The
 * same parts give the same text: its time is that of the commit, and its number a hash.
 */
export async function billOfMaterials(
  architectures: readonly Architecture[],
  libraries: readonly Library[],
  epochSeconds: number,
): Promise<string> {
  const arguments_ = [
    'sbom',
    '--sbom-format=cyclonedx',
    '--sbom-type=application',
    '--omit=dev',
    '--package-lock-only',
  ];
  const bill: Bill = JSON.parse(await runTool('npm', arguments_, { cwd: root }));
  delete bill.serialNumber;
  bill.metadata.timestamp = new Date(epochSeconds * 1000).toISOString();
  bill.metadata.component.name = 'engram'; // npm takes the name of the folder
  for (const architecture of architectures) {
    const { version, hash } = pinnedNode(architecture);
    const name = `node-linux-${architecture}`;
    const hashes = [{ alg: 'SHA-256', content: hash }];
    bill.components.push({ type: 'framework', name, version, purl: `pkg:npm/${name}@${version}`, hashes });
  }
  for (const library of libraries) bill.components.push({ type: 'library', ...library });
  const digest = createHash('sha256').update(JSON.stringify(bill)).digest('hex');
  const [, a, b, c, d, e] = /^(.{8})(.{4}).(.{3}).(.{3})(.{12})/.exec(digest)!;
  bill.serialNumber = `urn:uuid:${a}-${b}-8${c}-8${d}-${e}`;
  return `${JSON.stringify(bill, undefined, 1)}\n`;
}

/** The version that package.json of the repository names. */
export const releaseVersion = (): string =>
  (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly version: string }).version;
