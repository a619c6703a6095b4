import { closeSync, fsyncSync, openSync, writeFileSync } from 'node:fs';

/** Writes a file that its owner alone may read. Durable when its folder is. `wx`: throws if there is one. */
export function writeSynced(path: string, text: string, flag: 'w' | 'wx'): void {
  const fd = openSync(path, flag, 0o600);
  try {
    writeFileSync(fd, text);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
