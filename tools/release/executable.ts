import { chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { arch, tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './bundle.ts';
import { type Architecture, nodeBinary } from './node-binary.ts';
import { runTool } from './run-tool.ts';

/** Where node looks for an application in itself (its documentation, "Single executable applications"). */
const SENTINEL = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

export interface RuntimeSettings {
  readonly flags: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** How node runs a member, from packages/server/bin/runtime.sh: its flags, and the environment that malloc reads. */
export function runtimeSettings(): RuntimeSettings {
  const script = readFileSync(join(root, 'packages/server/bin/runtime.sh'), 'utf8');
  const flags = /^NODE_FLAGS='([^']+)'$/m.exec(script)?.[1];
  const settings = [...script.matchAll(/^(MALLOC_\w+)=\$\{\1:-(\d+)\}$/gm)];
  if (flags === undefined || settings.length === 0) throw new Error('runtime.sh does not say how node runs a member');
  const environment = Object.fromEntries(settings.map(([, name = '', value = '']) => [name, value]));
  return { flags: flags.split(' '), environment };
}

/**
 * Writes the pinned node for a processor with the bundle in it. If this machine has the same processor, compiled code is in
 * it as well: that halves the time of a start, and needs no folder that can be written.
 */
export async function writeExecutable(file: string, bundle: string, architecture: Architecture): Promise<void> {
  const { flags } = runtimeSettings();
  const compiled = arch() === architecture;
  // Node writes the path of the bundle into the blob: the same in every checkout, because it is a name without a folder.
  const folder = mkdtempSync(join(tmpdir(), 'engram-executable-'));
  try {
    copyFileSync(bundle, join(folder, 'engram.cjs'));
    const settings = {
      main: 'engram.cjs',
      output: 'blob',
      disableExperimentalSEAWarning: true,
      useCodeCache: compiled,
      execArgv: flags,
    };
    writeFileSync(join(folder, 'settings.json'), JSON.stringify(settings));
    // With these two flags the compiled code is the same each time. V8 takes it without them.
    const same = compiled ? ['--predictable', '--random-seed=1'] : [];
    const host = await nodeBinary(arch() === 'arm64' ? 'arm64' : 'x64');
    await runTool(host, [...flags, ...same, '--experimental-sea-config', 'settings.json'], { cwd: folder });
    copyFileSync(await nodeBinary(architecture), file);
    chmodSync(file, 0o755);
    const blob = join(folder, 'blob');
    await runTool(join(root, 'node_modules/.bin/postject'), [file, 'NODE_SEA_BLOB', blob, '--sentinel-fuse', SENTINEL]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
