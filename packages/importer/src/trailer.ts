import { createHash } from 'node:crypto';
import { BboltError, type ByteSource } from '@engram/bbolt';
import { ImportError } from './import-error.ts';

/** A snapshot is a database, whose length is a multiple of 512, and its SHA-256 (etcd client/v3/snapshot/v3_snapshot.go). */
const ALIGN_BYTES = 512;
const HASH_BYTES = 32;
/** So few that they are still in the caches of the processor when they are hashed. */
const READ_BYTES = 256 << 10;

/**
 * The database in a snapshot, whose bytes have been read and compared with its hash, as `etcdutl snapshot restore` does.
 * With `skipHashCheck` a file without a hash is taken too, and a hash is not looked at. Rejects with ImportError
 * no-hash or wrong-hash, and with BboltError cut if the file becomes shorter.
 */
export async function databaseIn(file: ByteSource, skipHashCheck: boolean, signal: AbortSignal): Promise<ByteSource> {
  const hasHash = file.bytes % ALIGN_BYTES === HASH_BYTES;
  if (!hasHash && !skipHashCheck) {
    throw new ImportError(
      'no-hash',
      'snapshot missing hash but --skip-hash-check=false: the file is cut, or it is the database of a data directory',
    );
  }
  const bytes = hasHash ? file.bytes - HASH_BYTES : file.bytes;
  if (hasHash && !skipHashCheck) {
    const buffer = new Uint8Array(READ_BYTES);
    const read = (offset: number, length: number): Promise<Uint8Array> => file.read(offset, length, signal, buffer);
    const hash = createHash('sha256');
    for (let at = 0; at < bytes; at += READ_BYTES) {
      signal.throwIfAborted();
      const wanted = Math.min(READ_BYTES, bytes - at);
      const part = await read(at, wanted);
      if (part.length !== wanted) throw new BboltError('cut', `the file has become shorter than ${file.bytes} bytes`);
      hash.update(part);
    }
    const found = hash.digest('hex');
    const said = Buffer.from(await read(bytes, HASH_BYTES)).toString('hex');
    if (said !== found) throw new ImportError('wrong-hash', `expected sha256 ${said}, got ${found}`);
  }
  return { bytes, read: (offset, length, each) => file.read(offset, length, each) };
}
