import { assert } from '@engram/core';
import { type FlagSpec, type FlagType, flagTable } from './flag-table.ts';
import { parseGoDuration } from './go-duration.ts';
import { parseUrls } from './urls.ts';

/** The configuration is not valid. The message is for the operator. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** The given values by flag name. A flag without a given value has its default. All values are valid for their types. */
export class FlagValues {
  readonly #given = new Map<string, string>();

  /** Sets the flag's value. Returns what is wrong with the text, or undefined. */
  set(spec: FlagSpec, text: string): string | undefined {
    const problem = problemOf(spec.type, text);
    if (problem === undefined) this.#given.set(spec.name, text);
    return problem;
  }

  isSet(name: string): boolean {
    return this.#given.has(name);
  }

  /** The flags that were given and differ from their defaults, in the table's order. */
  changed(): readonly FlagSpec[] {
    return [...flagTable.values()].filter(
      ({ name, value }) => this.#given.has(name) && this.#given.get(name) !== value,
    );
  }

  text(name: string): string {
    return this.#raw(name, 'string');
  }

  bool(name: string): boolean {
    return goTrue.has(this.#raw(name, 'bool'));
  }

  number(name: string): number {
    return Number(this.#raw(name, 'int', 'uint').replaceAll('_', ''));
  }

  durationMs(name: string): number {
    const ms = parseGoDuration(this.#raw(name, 'duration'));
    assert(ms !== undefined, `--${name} was taken over although it is no duration`);
    return ms;
  }

  list(name: string): readonly string[] {
    const text = this.#raw(name, 'strings', 'urls');
    return text === '' ? [] : text.split(',').map((item) => item.trim());
  }

  #raw(name: string, ...types: readonly FlagType[]): string {
    const spec = flagTable.get(name);
    assert(spec !== undefined && types.includes(spec.type), `--${name} is no ${types.join(' or ')}`);
    return this.#given.get(name) ?? spec.value;
  }
}

// As Go's strconv.ParseBool.
const goTrue: ReadonlySet<string> = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);
const goFalse: ReadonlySet<string> = new Set(['0', 'f', 'F', 'FALSE', 'false', 'False']);
const integer = /^[+-]?(?:0[xX][\da-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|\d[\d_]*)$/;

function problemOf(type: FlagType, text: string): string | undefined {
  switch (type) {
    case 'bool':
      return goTrue.has(text) || goFalse.has(text) ? undefined : 'parse error';
    case 'int':
    case 'uint': {
      if (!integer.test(text) || (type === 'uint' && /^[+-]/.test(text))) return 'parse error';
      return Number.isSafeInteger(Number(text.replaceAll('_', ''))) ? undefined : 'value out of range';
    }
    case 'duration':
      return parseGoDuration(text) === undefined ? 'parse error' : undefined;
    case 'urls': {
      if (text === '') return undefined;
      const urls = parseUrls(text);
      return typeof urls === 'string' ? urls : undefined;
    }
    case 'string':
    case 'strings':
      return undefined;
  }
}
