/** Keeps the pieces of an image used last in memory, up to a bound in bytes. A single piece may be larger than the bound. */
export class RecentPieces<Piece> {
  readonly #bytesMax: number;
  /** By number, least recently used first. */
  readonly #pieces = new Map<number, { readonly piece: Piece; readonly bytes: number }>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(number: number): Piece | undefined {
    const kept = this.#pieces.get(number);
    if (kept === undefined) return undefined;
    this.#pieces.delete(number);
    this.#pieces.set(number, kept);
    return kept.piece;
  }

  add(number: number, piece: Piece, bytes: number): void {
    if (this.#pieces.has(number)) return;
    this.#pieces.set(number, { piece, bytes });
    this.#bytes += bytes;
    for (const [oldest, { bytes: its }] of this.#pieces) {
      if (this.#bytes <= this.#bytesMax || oldest === number) break;
      this.#pieces.delete(oldest);
      this.#bytes -= its;
    }
  }
}
