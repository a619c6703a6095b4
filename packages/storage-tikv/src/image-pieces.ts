import type { Snapshot } from '@engram/tikv-client';
import { decodePiecePart } from './image-piece.ts';
import type { ImageKind } from './log-keys.ts';
import { corrupt, type LogSource } from './log-source.ts';

/** A piece of the image is not there: the image was replaced, and deleted, or it is damaged. */
export class PieceMissing extends Error {
  override readonly name = 'PieceMissing';
}

/** Where the pieces of one image are read. */
export interface ImagePieces {
  /** Their payloads, in their order. PieceMissing, StorageCorruptError, or what reading meets. */
  fetch(kind: ImageKind, numbers: readonly number[], signal: AbortSignal): Promise<readonly Uint8Array[]>;
}

/** In TiKV; pieces of several regions are read side by side. */
export class TikvPieces implements ImagePieces {
  readonly #source: LogSource;
  readonly #round: number;

  constructor(source: LogSource, round: number) {
    this.#source = source;
    this.#round = round;
  }

  async fetch(kind: ImageKind, numbers: readonly number[], signal: AbortSignal): Promise<readonly Uint8Array[]> {
    const { client, timeoutMs } = this.#source;
    const snapshot = await client.snapshot({ signal, timeoutMs });
    const firsts = await this.#parts(snapshot, kind, numbers, [0], signal);
    return await Promise.all(
      firsts.map(async ({ payload, parts }, at) => {
        if (parts === 1) return payload;
        const others = Array.from({ length: parts - 1 }, (_, index) => index + 1);
        const rest = await this.#parts(snapshot, kind, [numbers[at]!], others, signal);
        return Buffer.concat([payload, ...rest.map((part) => part.payload)]);
      }),
    );
  }

  async #parts(
    snapshot: Snapshot,
    kind: ImageKind,
    numbers: readonly number[],
    parts: readonly number[],
    signal: AbortSignal,
  ): Promise<{ readonly payload: Uint8Array; readonly parts: number }[]> {
    const { keys, timeoutMs } = this.#source;
    const round = this.#round;
    const names = numbers.flatMap((number) => parts.map((part) => ({ round, kind, number, part })));
    const values = await snapshot.batchGet(
      names.map((name) => keys.piece(name)),
      { signal, timeoutMs },
    );
    return names.map((name, at) => {
      const value = values[at];
      if (value === undefined) throw new PieceMissing(`${kind} ${name.number} of image ${round} is missing`);
      const part = decodePiecePart(name, value);
      if (part === undefined) throw corrupt(this.#source, `${kind} ${name.number} of image ${round} is damaged`);
      return part;
    });
  }
}
