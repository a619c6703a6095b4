import { type Clock, nextTurn } from '@engram/core';
import type { PageEntry } from './image-directory.ts';
import type { Image } from '../format/image-root.ts';
import type { ImageKey } from '../format/log-keys.ts';
import type { LogSource } from '../log/log-source.ts';

/** Keys that are scanned before other tasks of the process get their turn. */
const SLICE_KEYS = 1000;

export interface ImageGarbageOptions {
  readonly source: LogSource;
  readonly clock: Clock;
  /** The round that collects. Its own pieces, and the pieces of later rounds, are not touched. */
  readonly round: number;
  /** The image that was published when the round was claimed. */
  readonly published: Image | undefined;
  /** The pages that its directory names; undefined if it has none, so that all its pages are of its own round. */
  readonly pages: readonly PageEntry[] | undefined;
}

/**
 * Deletes all pieces of earlier rounds that `published` does not name: pieces of replaced images, and of abandoned rounds. A
 * caller that is deposed meanwhile does no harm: of these rounds, later images keep only pages that `published` names. Resolves
 * to the named pages that exist.
 */
export async function collectImageGarbage(
  { source, clock, round, published, pages }: ImageGarbageOptions,
  signal: AbortSignal,
): Promise<readonly PageEntry[]> {
  const { client, keys, timeoutMs } = source;
  const call = { signal, timeoutMs };
  const [start, end] = [keys.roundStart(0), keys.roundStart(round)];
  const named = new Map((pages ?? []).map((page) => [nameOf(page), page]));
  const isNeeded = (piece: ImageKey): boolean =>
    piece.kind === 'page' && pages !== undefined ? named.has(nameOf(piece)) : piece.round === published?.round;
  const there: PageEntry[] = [];
  let garbage: Uint8Array | undefined;
  const remove = async (until: Uint8Array): Promise<void> => {
    if (garbage !== undefined) await client.admin.deleteRange(garbage, until, call);
    garbage = undefined;
  };
  const snapshot = await client.snapshot({ ...call, notFillCache: true });
  let seen = 0;
  for await (const { key } of snapshot.scan(start, end, { ...call, keysOnly: true })) {
    const piece = keys.parsePiece(key);
    if (piece === undefined || !isNeeded(piece)) garbage ??= key;
    else {
      await remove(key);
      const page = piece.kind === 'page' && piece.part === 0 ? named.get(nameOf(piece)) : undefined;
      if (page !== undefined) there.push(page);
    }
    seen += 1;
    if (seen % SLICE_KEYS === 0) await nextTurn(clock);
  }
  await remove(end);
  return there;
}

const nameOf = ({ round, number }: { readonly round: number; readonly number: number }): string => `${round}/${number}`;
