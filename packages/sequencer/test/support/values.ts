import { keyBytes, keyText, type LogPosition } from '@engram/core';
import type { ChangeEncoder, DecisionValues, EncodedChange } from '@engram/sequencer';

/** The form of a record in transcripts: its change in words. */
const encoded = (text: string): EncodedChange => ({ record: keyBytes(text), kv: keyBytes(text) });

export const textEncoder: ChangeEncoder = {
  put: ({ key, value, createRevision, version, lease }) =>
    encoded(`put ${keyText(key)} ${keyText(value)}, created ${createRevision}, version ${version}, lease ${lease}`),
  delete: (_sub, key) => encoded(`delete ${keyText(key)}`),
};

/** Values by position. Some are in memory; the others must be brought. */
export class Values implements DecisionValues {
  readonly #all = new Map<LogPosition, Uint8Array>();
  readonly #cold = new Set<LogPosition>();
  readonly #held = new Set<LogPosition>();
  /** What the decision waits for, until `arrive`. */
  #bringing: readonly LogPosition[] = [];

  add(position: LogPosition, value: Uint8Array): void {
    this.#all.set(position, value);
  }

  /** The value is not in memory any more. */
  cool(position: LogPosition): void {
    this.#cold.add(position);
  }

  get waitsFor(): readonly LogPosition[] {
    return this.#bringing;
  }

  /** The values that the decision waits for are there. */
  arrive(): void {
    for (const position of this.#bringing) this.#held.add(position);
    this.#bringing = [];
  }

  bring(positions: readonly LogPosition[]): Promise<void> | undefined {
    this.#bringing = positions.filter((position) => this.#cold.has(position) && !this.#held.has(position));
    return this.#bringing.length === 0 ? undefined : Promise.resolve();
  }

  value(position: LogPosition): Uint8Array {
    if (this.#cold.has(position) && !this.#held.has(position)) throw new Error(`value ${position} was not brought`);
    return this.#all.get(position)!;
  }
}
