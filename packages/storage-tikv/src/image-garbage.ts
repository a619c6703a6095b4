import { type Clock, nextTurn } from '@engram/core';
import type { PageEntry } from './image-directory.ts';
import type { Image } from './image-root.ts';
import type { ImageKey } from './log-keys.ts';
import type { LogSource } from './log-source.ts';

/** Keys that are looked at before others get their turn. */
const SLICE_KEYS = 1000;

export interface ImageGarbageOptions {
  readonly source: LogSource;
  readonly clock: Clock;
  /** The round that looks: its own pieces, and those of later ones, are not touched. */
  readonly round: number;
  /** The image that was published when the round was claimed, and what its directory names; undefined: all are of its round. */
  readonly published: Image | undefined;
  readonly pages: readonly PageEntry[] | undefined;
}

/**
 * Deletes the pieces of all rounds before this one that the image of its claim does not name: of images that were replaced, and of
 * rounds that were given up. Whoever is deposed meanwhile does no harm: later images keep no other pages of these rounds
 * than those that this one names. Resolves to the named pages that are there.
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
