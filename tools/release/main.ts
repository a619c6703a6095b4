// `make release` and `make image`: writes what a release consists of into .release (or OUT), and prints it with sizes.
//   node tools/release/main.ts [--only tarballs|image] [--architecture x64|arm64]
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { compress, writeTar } from './archive.ts';
import { billOfMaterials, releaseVersion } from './bill-of-materials.ts';
import { root, writeBundle } from './bundle.ts';
import { runtimeSettings, writeExecutable } from './executable.ts';
import { writeImage } from './image.ts';
import { type Architecture, architectures, sha256 } from './node-binary.ts';
import { runTool } from './run-tool.ts';

const { values: options } = parseArgs({
  options: { only: { type: 'string' }, architecture: { type: 'string' } },
});
const chosen = architectures.filter((each) => options.architecture === undefined || options.architecture === each);
if (chosen.length === 0)
  throw new Error(`--architecture ${options.architecture}: expected ${architectures.join(', ')}`);

const out = process.env['OUT'] ?? join(root, '.release');
const version = releaseVersion();
const revision = process.env['REVISION'] ?? (await git('rev-parse', 'HEAD')) ?? 'unknown';
const epochSeconds = Number(process.env['SOURCE_DATE_EPOCH'] ?? (await git('log', '-1', '--format=%ct')) ?? 0);
await checkTag();

const work = mkdtempSync(join(tmpdir(), 'engram-release-'));
try {
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const bundle = join(work, 'engram.cjs');
  await writeBundle(bundle);
  if (options.only !== 'image') await portable(bundle);
  for (const architecture of chosen) {
    const executable = join(work, `engram-${architecture}`);
    await writeExecutable(executable, bundle, architecture);
    if (options.only !== 'image') await tarball(executable, architecture);
    if (options.only !== 'tarballs') await image(executable, architecture);
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}
const files = readdirSync(out).sort();
writeFileSync(join(out, 'SHA256SUMS'), files.map((name) => `${sha256(join(out, name))}  ${name}\n`).join(''));
for (const name of files) {
  const mebibytes = statSync(join(out, name)).size / 2 ** 20;
  console.log(`${mebibytes.toFixed(1).padStart(7)} MiB  ${sha256(join(out, name)).slice(0, 16)}  ${join(out, name)}`);
}

/** For node >= 24 that a machine has already, of every processor that has a native part. */
async function portable(bundle: string): Promise<void> {
  const name = `engram-${version}-node24`;
  const folder = join(work, name);
  await addTexts(folder, architectures);
  copyFileSync(bundle, join(folder, 'lib/engram/engram.cjs'));
  for (const architecture of architectures) addNative(folder, architecture);
  const { flags, environment } = runtimeSettings();
  const variables = Object.entries(environment).map(([key, value]) => `${key}=\${${key}:-${value}}\nexport ${key}\n`);
  const launcher = (what: string, lines: string, options: readonly string[], file: string): string => `#!/bin/sh
# Starts ${what}. Needs node >= 24 on PATH, or its path in NODE.
self=$(readlink -f -- "$0") || exit 1
${lines}exec "\${NODE:-node}" ${options.join(' ')} "$(dirname -- "$self")/../lib/engram/${file}" "$@"
`;
  writeFileSync(join(folder, 'lib/engram/engramctl.cjs'), "require('./engram.cjs');\n");
  const member = launcher("a node, with etcd's flags", variables.join(''), flags, 'engram.cjs');
  const ofTool = [...flags, '--disable-warning=DEP0123'];
  const tool = launcher("engramctl, with etcdctl's flags", variables.join(''), ofTool, 'engramctl.cjs');
  for (const [name, text] of [
    ['engram', member],
    ['engramctl', tool],
  ] as const) {
    writeFileSync(join(folder, 'bin', name), text);
    chmodSync(join(folder, 'bin', name), 0o755);
  }
  await pack(name);
}

/** With node inside: the executable, and what belongs to it. */
async function tarball(executable: string, architecture: Architecture): Promise<void> {
  const name = `engram-${version}-linux-${architecture}`;
  const folder = join(work, name);
  await addTexts(folder, [architecture]);
  copyFileSync(executable, join(folder, 'bin/engram'));
  symlinkSync('engram', join(folder, 'bin/engramctl')); // it is the program by whose name it is started
  addNative(folder, architecture);
  await pack(name);
}

async function image(executable: string, architecture: Architecture): Promise<void> {
  const folder = join(work, `image-${architecture}`);
  mkdirSync(folder);
  const native = nativePart(architecture);
  await writeImage({ architecture, version, revision, epochSeconds, executable, native, work: folder, out });
}

async function addTexts(folder: string, of: readonly Architecture[]): Promise<void> {
  for (const part of ['bin', 'lib/engram', 'share/engram', 'systemd'])
    mkdirSync(join(folder, part), { recursive: true });
  for (const text of ['LICENSE', 'README.md', 'CHANGELOG.md', 'docs/COMPATIBILITY.md'])
    copyFileSync(join(root, text), join(folder, 'share/engram', text.replace('docs/', '')));
  for (const text of ['engram.service', 'engram.yaml'])
    copyFileSync(join(root, 'deploy/systemd', text), join(folder, 'systemd', text));
  writeFileSync(join(folder, 'share/engram/sbom.cdx.json'), await billOfMaterials(of, [], epochSeconds));
}

function addNative(folder: string, architecture: Architecture): void {
  copyFileSync(nativePart(architecture), join(folder, `lib/engram/classic-level-linux-${architecture}.node`));
}

/** The binaries that the npm package brings: linked to glibc. */
function nativePart(architecture: Architecture): string {
  const folder = join(root, 'node_modules/classic-level/prebuilds', `linux-${architecture}`);
  const name = { x64: 'classic-level.node', arm64: 'classic-level.armv8.node' }[architecture];
  if (!existsSync(join(folder, name))) throw new Error(`classic-level has no binary for linux-${architecture}`);
  return join(folder, name);
}

async function pack(name: string): Promise<void> {
  const tar = join(work, `${name}.tar`);
  await writeTar(tar, work, [{ path: name }], epochSeconds);
  await compress(tar, join(out, `${name}.tar.gz`));
  rmSync(tar);
}

async function git(...args: readonly string[]): Promise<string | undefined> {
  try {
    return (await runTool('git', args, { cwd: root })).trim();
  } catch {
    return undefined; // sources without a repository
  }
}

/** A tag names a release: it has to be the version that the program says. */
async function checkTag(): Promise<void> {
  const tags = ((await git('tag', '--points-at', 'HEAD')) ?? '').split('\n').filter((tag) => /^v\d/.test(tag));
  if (tags.length > 0 && !tags.includes(`v${version}`))
    throw new Error(`this commit has the tag ${tags.join(', ')}, and package.json the version ${version}`);
  const source = readFileSync(join(root, 'packages/server/src/version.ts'), 'utf8');
  const ofTool = readFileSync(join(root, 'packages/engramctl/src/version.ts'), 'utf8');
  if (!ofTool.includes(`ENGRAMCTL_VERSION = '${version}'`))
    throw new Error(`packages/engramctl/src/version.ts does not have the version of package.json, ${version}`);
  if (!source.includes(`ENGRAM_VERSION = '${version}'`))
    throw new Error(`packages/server/src/version.ts does not have the version of package.json, ${version}`);
}
