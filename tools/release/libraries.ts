import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { root } from './bundle.ts';
import { type Architecture, sha256 } from './node-binary.ts';
import { runTool } from './run-tool.ts';

type Pins = Readonly<Record<string, { readonly version: string } & Readonly<Record<Architecture, string>>>>;

export interface Library {
  readonly name: string;
  readonly version: string;
  readonly purl: string;
}

const debianNames: Readonly<Record<Architecture, string>> = { x64: 'amd64', arm64: 'arm64' };
const triplets: Readonly<Record<Architecture, string>> = { x64: 'x86_64-linux-gnu', arm64: 'aarch64-linux-gnu' };
/** Where a program looks for its loader: fixed in the program. */
const loaders: Readonly<Record<Architecture, string>> = {
  x64: 'lib64/ld-linux-x86-64.so.2',
  arm64: 'lib/ld-linux-aarch64.so.1',
};
/** What node and the native part link, and libresolv for names. */
const wanted = [
  'libc.so.6',
  'libdl.so.2',
  'libgcc_s.so.1',
  'libm.so.6',
  'libpthread.so.0',
  'libresolv.so.2',
  'libstdc++.so.6',
];

/**
 * Puts the C and C++ libraries of Debian 12 below `image`, by apt with a state of its own: nothing of the machine changes.
 * Rejects if a package is not the one that libraries.json pins, unless `LIBRARIES=newest` asks for what Debian has now.
 */
export async function addLibraries(image: string, architecture: Architecture): Promise<readonly Library[]> {
  const pins: Pins = JSON.parse(readFileSync(join(root, 'tools/release/libraries.json'), 'utf8'));
  const newest = process.env['LIBRARIES'] === 'newest';
  const debian = debianNames[architecture];
  const folder = mkdtempSync(join(tmpdir(), 'engram-libraries-'));
  try {
    const apt = await freshApt(folder, debian);
    const libraries: Library[] = [];
    for (const [name, pin] of Object.entries(pins)) {
      await runTool('apt-get', [...apt, 'download', newest ? name : `${name}=${pin.version}`], { cwd: folder });
      const [file] = (await runTool('find', [folder, '-maxdepth', '1', '-name', `${name}_*.deb`])).trim().split('\n');
      if (file === undefined || file === '') throw new Error(`apt-get brought no package of ${name}`);
      if (!newest && sha256(file) !== pin[architecture])
        throw new Error(`${basename(file)} is not the package that libraries.json pins`);
      await runTool('dpkg-deb', ['--extract', file, join(folder, 'root')]);
      const version = (await runTool('dpkg-deb', ['--field', file, 'Version'])).trim();
      libraries.push({ name, version, purl: `pkg:deb/debian/${encodeURIComponent(name)}@${version}?arch=${debian}` });
    }
    copyLibraries(join(folder, 'root'), image, architecture);
    return libraries;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function freshApt(folder: string, debian: string): Promise<readonly string[]> {
  mkdirSync(join(folder, 'lists/partial'), { recursive: true });
  mkdirSync(join(folder, 'cache/archives/partial'), { recursive: true });
  const settings = {
    'APT::Architecture': debian,
    'APT::Architectures': debian,
    'APT::Sandbox::User': '',
    'Dir::State::Lists': join(folder, 'lists'),
    'Dir::State::status': '/dev/null',
    'Dir::Cache': join(folder, 'cache'),
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  await runTool('apt-get', [...options, '-qq', 'update']);
  return [...options, '-qq'];
}

function copyLibraries(from: string, image: string, architecture: Architecture): void {
  const folder = `lib/${triplets[architecture]}`;
  mkdirSync(join(image, folder), { recursive: true });
  for (const name of wanted) {
    const source = [join(from, folder, name), join(from, 'usr', folder, name)].find((path) => existsSync(path));
    if (source === undefined) throw new Error(`Debian's packages have no ${name}`);
    copyFileSync(source, join(image, folder, name)); // follows the link to the version
    chmodSync(join(image, folder, name), 0o644);
  }
  const loader = loaders[architecture];
  const program = join(folder, basename(loader));
  copyFileSync(join(from, program), join(image, program));
  chmodSync(join(image, program), 0o755);
  mkdirSync(join(image, dirname(loader)), { recursive: true });
  symlinkSync(`/${program}`, join(image, loader));
}
