import { readFile, rename, writeFile } from 'node:fs/promises';
import { type LogPosition, logPosition } from '@engram/core';
import { type Chain, parseChain } from './chain.ts';

/** What a node's copy is of: without it nobody would know whether the copy belongs to the log. */
export interface CopyMark {
  readonly clusterId: bigint;
  readonly prefix: string;
  /** A place in the copy, between two batches. */
  readonly position: LogPosition;
  readonly chain: Chain;
}

const FORMAT = 1;

/**
 * Undefined where there is none, or none that says anything: the copy is worth nothing then. It is not synced, as the copy
 * is not: a crash of the machine may leave it behind the copy, or ahead of it.
 */
export async function readMark(path: string): Promise<CopyMark | undefined> {
  let mark: unknown;
  try {
    mark = JSON.parse(await readFile(path, 'utf8'));
  } catch {
    return undefined;
  }
  if (typeof mark !== 'object' || mark === null || !('format' in mark) || mark.format !== FORMAT) return undefined;
  if (!('clusterId' in mark && 'prefix' in mark && 'position' in mark && 'chain' in mark)) return undefined;
  const { clusterId, prefix, position, chain } = mark;
  if (typeof clusterId !== 'string' || !/^[\da-f]{1,16}$/.test(clusterId) || typeof prefix !== 'string')
    return undefined;
  const parsed = typeof chain === 'string' ? parseChain(chain) : undefined;
  if (typeof position !== 'number' || !Number.isSafeInteger(position) || parsed === undefined) return undefined;
  return { clusterId: BigInt(`0x${clusterId}`), prefix, position: logPosition(position), chain: parsed };
}

/** Replaces it whole. */
export async function writeMark(path: string, { clusterId, prefix, position, chain }: CopyMark): Promise<void> {
  const text = { format: FORMAT, clusterId: clusterId.toString(16), prefix, position, chain };
  await writeFile(`${path}.new`, `${JSON.stringify(text)}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
}
