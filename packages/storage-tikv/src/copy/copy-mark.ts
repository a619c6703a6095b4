import { readFile, rename, writeFile } from 'node:fs/promises';
import { type LogPosition, logPosition } from '@engram/core';
import { type Chain, parseChain } from '../format/chain.ts';

/** Names the log that a node's copy is of. Without the mark, the node cannot tell whether the copy belongs to the log. */
export interface CopyMark {
  readonly clusterId: bigint;
  readonly prefix: string;
  /** The first record of the log that the copy has. */
  readonly begin: LogPosition;
  /** A place in the copy, between two batches. */
  readonly position: LogPosition;
  readonly chain: Chain;
}

/** Format 1 had no `begin`: its copies began with the log. */
const FORMAT = 2;

/**
 * Undefined if the mark is missing or invalid: the copy is useless then. Neither the mark nor the copy is synced, so a crash
 * of the machine may leave the mark behind the copy, or ahead of it.
 */
export async function readMark(path: string): Promise<CopyMark | undefined> {
  let mark: unknown;
  try {
    mark = JSON.parse(await readFile(path, 'utf8'));
  } catch {
    return undefined;
  }
  if (typeof mark !== 'object' || mark === null || !('format' in mark)) return undefined;
  const begin = mark.format === 1 ? 1 : mark.format === FORMAT && 'begin' in mark ? mark.begin : undefined;
  if (typeof begin !== 'number' || !Number.isSafeInteger(begin) || begin < 1) return undefined;
  if (!('clusterId' in mark && 'prefix' in mark && 'position' in mark && 'chain' in mark)) return undefined;
  const { clusterId, prefix, position, chain } = mark;
  if (typeof clusterId !== 'string' || !/^[\da-f]{1,16}$/.test(clusterId) || typeof prefix !== 'string')
    return undefined;
  const parsed = typeof chain === 'string' ? parseChain(chain) : undefined;
  if (typeof position !== 'number' || !Number.isSafeInteger(position) || parsed === undefined) return undefined;
  const id = BigInt(`0x${clusterId}`);
  return { clusterId: id, prefix, begin: logPosition(begin), position: logPosition(position), chain: parsed };
}

/** Replaces the mark as a whole. */
export async function writeMark(path: string, { clusterId, prefix, begin, position, chain }: CopyMark): Promise<void> {
  const text = { format: FORMAT, clusterId: clusterId.toString(16), prefix, begin, position, chain };
  await writeFile(`${path}.new`, `${JSON.stringify(text)}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
}
