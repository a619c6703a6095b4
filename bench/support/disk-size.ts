import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const BLOCK_BYTES = 512;

/** The disk usage of the files below a directory, as `du` counts it. A file that disappears meanwhile counts as 0. */
export function diskBytes(path: string): number {
  try {
    const stat = lstatSync(path);
    if (!stat.isDirectory()) return stat.blocks * BLOCK_BYTES;
    return readdirSync(path).reduce((sum, entry) => sum + diskBytes(join(path, entry)), stat.blocks * BLOCK_BYTES);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return 0;
    throw error;
  }
}
