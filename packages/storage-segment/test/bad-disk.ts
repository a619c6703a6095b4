import { DiskError } from '@engram/sim';
import type { BulkReader, OpenMode, StorageFile } from '../src/disk/file-system.ts';
import { type Ground, nodeGround } from '../src/ground.ts';

/** What is asked of the disk. A read and a write are of the bytes from `from` to `to`. */
export type Asked =
  | { readonly operation: 'open'; readonly path: string; readonly mode: OpenMode }
  | { readonly operation: 'read' | 'write'; readonly path: string; readonly from: number; readonly to: number };

/**
 * A real disk on which some operations fail, as often as they are asked for: with the code that `fault` returns. A disk has
 * bad sectors, and a process has only so many open files. Without a bulk reader.
 */
export function badDisk(fault: (asked: Asked) => string | undefined): Ground {
  const { fileSystem } = nodeGround;
  const check = (asked: Asked): void => {
    const code = fault(asked);
    if (code !== undefined) throw new DiskError(code, `${asked.operation} of ${asked.path}`);
  };
  const open = async (path: string, mode: OpenMode): Promise<StorageFile> => {
    check({ operation: 'open', path, mode });
    const file = await fileSystem.open(path, mode);
    const [read, readNow, write] = [file.read.bind(file), file.readNow.bind(file), file.write.bind(file)];
    const at = (operation: 'read' | 'write', bytes: Uint8Array, from: number): void =>
      check({ operation, path, from, to: from + bytes.length });
    return Object.assign(file, {
      read: async (target: Uint8Array, offset: number, inline?: boolean) => {
        at('read', target, offset);
        return await read(target, offset, inline);
      },
      readNow: (target: Uint8Array, offset: number) => {
        at('read', target, offset);
        return readNow(target, offset);
      },
      write: async (bytes: Uint8Array, offset: number, inline?: boolean) => {
        at('write', bytes, offset);
        await write(bytes, offset, inline);
      },
    });
  };
  const bulkReader = (): BulkReader => ({
    ready: false,
    read: () => Promise.reject(new Error('not ready')),
    close: () => Promise.resolve(),
  });
  return { ...nodeGround, fileSystem: { ...fileSystem, open, bulkReader } };
}
