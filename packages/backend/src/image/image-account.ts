import { EngramError } from '@engram/core';
import type { StoreImage } from '../store.ts';

/** The memory of the images that snapshots hold. A client can hold one for as long as it likes. */
export class ImageAccount {
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** What all images take. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Takes an image and counts its bytes until it is disposed. TooManyRequests if there are others, and all of them would take
   * more than the bound.
   */
  async take(bytes: number, taking: () => Promise<StoreImage>): Promise<StoreImage> {
    if (this.#bytes > 0 && this.#bytes + bytes > this.#bytesMax) throw new EngramError('TooManyRequests');
    this.#bytes += bytes;
    try {
      return this.#counted(await taking(), bytes);
    } catch (error) {
      this.#bytes -= bytes;
      throw error;
    }
  }

  #counted(image: StoreImage, bytes: number): StoreImage {
    const dispose = image[Symbol.dispose].bind(image);
    let held = true;
    image[Symbol.dispose] = (): void => {
      dispose();
      if (held) this.#bytes -= bytes;
      held = false;
    };
    return image;
  }
}
