import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { root } from './bundle.ts';
import { runTool } from './run-tool.ts';

/** Node's names of processors. */
export const architectures = ['x64', 'arm64'] as const;
export type Architecture = (typeof architectures)[number];

const cache = join(process.env['ENGRAM_E2E_CACHE'] ?? join(homedir(), '.cache/engram-e2e'), 'release');

/** The version of node that tools/setup pins, and the hash of its binary for this processor. */
export function pinnedNode(architecture: Architecture): { readonly version: string; readonly hash: string } {
  const setup = readFileSync(join(root, 'tools/setup'), 'utf8');
  const version = /^NODE_VERSION=(\S+)$/m.exec(setup)?.[1];
  const hash = new RegExp(`package=node-linux-${architecture} hash=([0-9a-f]{64})`).exec(setup)?.[1];
  if (version === undefined || hash === undefined)
    throw new Error(`tools/setup pins no node for linux-${architecture}`);
  return { version, hash };
}

/**
 * The path of the pinned node for a processor, from npm's package for it; kept between runs. Rejects if the binary does
 * not have the hash that tools/setup names.
 */
export async function nodeBinary(architecture: Architecture): Promise<string> {
  const { version, hash } = pinnedNode(architecture);
  const kept = join(cache, `node-${version}-linux-${architecture}`);
  if (existsSync(kept) && sha256(kept) === hash) return kept;
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'node.'));
  try {
    const name = `node-linux-${architecture}`;
    await runTool('npm', ['pack', `${name}@${version}`, '--silent', '--pack-destination', folder], { cwd: folder });
    await runTool('tar', ['-xzf', `${name}-${version}.tgz`, 'package/bin/node'], { cwd: folder });
    const binary = join(folder, 'package/bin/node');
    if (sha256(binary) !== hash) throw new Error(`${name}@${version} is not the node that tools/setup names`);
    renameSync(binary, kept);
    return kept;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export const sha256 = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');
