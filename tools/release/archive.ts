import { createReadStream, createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { runTool } from './run-tool.ts';

/** One part of an archive: a path in the folder, with everything below it. */
export interface Part {
  readonly path: string;
  readonly owner?: number;
  /** For a folder that all may write to. */
  readonly mode?: string;
}

/**
 * Packs parts of a folder by GNU tar. The same files give the same bytes: names are sorted, times are `epochSeconds`, and
 * nobody's name or umask is in it.
 */
export async function writeTar(
  file: string,
  folder: string,
  parts: readonly Part[],
  epochSeconds: number,
): Promise<void> {
  for (const [at, { path, owner = 0, mode = 'u=rwX,go=rX' }] of parts.entries()) {
    const same = ['--format=ustar', '--sort=name', `--mtime=@${epochSeconds}`, '--numeric-owner'];
    const names = [`--owner=${owner}`, `--group=${owner}`, `--mode=${mode}`];
    await runTool('tar', [at === 0 ? '-cf' : '-rf', file, ...same, ...names, '-C', folder, path]);
  }
}

/** Node's own compressor, whose version is pinned: two versions of gzip need not agree. */
export const compress = (from: string, to: string): Promise<void> =>
  pipeline(createReadStream(from), createGzip({ level: 6 }), createWriteStream(to));
