import { eachOf, type Job, type Loop, settled, type Task } from '@engram/loop';
import type { PageEntry } from './image-directory.ts';
import type { Image } from '../format/image-root.ts';
import type { ImageKey } from '../format/log-keys.ts';
import type { LogSource } from '../log/log-source.ts';

const COLLECT: Task = { work: 'background', caller: 'images', stage: 'collect' };

export interface ImageGarbageOptions {
  readonly source: LogSource;
  readonly loop: Loop;
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
  options: ImageGarbageOptions,
  signal: AbortSignal,
): Promise<readonly PageEntry[]> {
  return await options.loop.run(COLLECT, collecting(options, signal), signal);
}

function* collecting(
  { source: { client, keys, timeoutMs }, loop, round, published, pages }: ImageGarbageOptions,
  signal: AbortSignal,
): Job<readonly PageEntry[]> {
  const call = { signal, timeoutMs };
  const [start, end] = [keys.roundStart(0), keys.roundStart(round)];
  const named = new Map((pages ?? []).map((page) => [nameOf(page), page]));
  const isNeeded = (piece: ImageKey): boolean =>
    piece.kind === 'page' && pages !== undefined ? named.has(nameOf(piece)) : piece.round === published?.round;
  const there: PageEntry[] = [];
  let garbage: Uint8Array | undefined;
  const remove = (from: Uint8Array, until: Uint8Array): Promise<void> => client.admin.deleteRange(from, until, call);
  const snapshot = yield* settled(client.snapshot({ ...call, notFillCache: true }));
  yield* eachOf(snapshot.pages(start, end, { ...call, keysOnly: true }), function* (rows) {
    for (const { key } of rows) {
      const piece = keys.parsePiece(key);
      if (piece === undefined || !isNeeded(piece)) garbage ??= key;
      else {
        if (garbage !== undefined) yield remove(garbage, key);
        garbage = undefined;
        const page = piece.kind === 'page' && piece.part === 0 ? named.get(nameOf(piece)) : undefined;
        if (page !== undefined) there.push(page);
      }
      if (loop.shouldYield()) yield;
    }
  });
  if (garbage !== undefined) yield remove(garbage, end);
  return there;
}

const nameOf = ({ round, number }: { readonly round: number; readonly number: number }): string => `${round}/${number}`;
