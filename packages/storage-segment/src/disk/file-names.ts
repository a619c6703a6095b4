import { join } from 'node:path';

/** Segments, their tables, checkpoints, and files that are being made. */
export type FileKind = 'seg' | 'idx' | 'ckpt' | 'tmp';

export interface DataFile {
  readonly kind: FileKind;
  readonly id: number;
}

/** The LevelDB database of the manifest. */
export const META_DIRECTORY = 'meta';
/** The same while it is being made. */
export const NEW_META_DIRECTORY = 'meta.new';
/** The file that LevelDB writes last when it makes a database. */
export const META_CURRENT = 'CURRENT';
/** What was acknowledged, see AcknowledgedMark. */
export const ACKNOWLEDGED_FILE = 'ACKNOWLEDGED';

const PATTERN = /^([0-9a-f]{16})\.(seg|idx|ckpt|tmp)$/;

/** The id in hexadecimal, padded, so that a listing is in order. */
export function fileName(kind: FileKind, id: number): string {
  return `${id.toString(16).padStart(16, '0')}.${kind}`;
}

export function filePath(directory: string, kind: FileKind, id: number): string {
  return join(directory, fileName(kind, id));
}

/** Undefined if the name is not of this storage. */
export function parseFileName(name: string): DataFile | undefined {
  const match = PATTERN.exec(name);
  if (match === null) return undefined;
  const id = Number.parseInt(match[1]!, 16);
  return Number.isSafeInteger(id) ? { kind: match[2] as FileKind, id } : undefined;
}
