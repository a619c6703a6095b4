import { assert, parseGoDuration } from '@engram/core';
import { parseFeatureGates } from './feature-gates.ts';
import type { FlagSpec, FlagType } from './flag-spec.ts';
import { fileOnlySettings, flagTable } from './flag-table.ts';
import { parseGoInteger } from './go-integer.ts';
import { parseUrls } from './urls.ts';

/** The configuration is not valid. The message is for the operator. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** The given values by flag name. A flag without a given value has its default. All values are valid for their types. */
export class FlagValues {
  readonly #table: ReadonlyMap<string, FlagSpec>;
  readonly #given = new Map<string, string>();
  /** The lists that were given item by item: their items may have commas. */
  readonly #items = new Map<string, readonly string[]>();

  /** The flags of a member, unless a command has its own. */
  constructor(table: ReadonlyMap<string, FlagSpec> = flagTable) {
    this.#table = table;
  }

  /** The flag with this name on the command line; undefined if there is none. */
  spec(name: string): FlagSpec | undefined {
    return this.#table.get(name);
  }

  /** Sets the flag's value. Returns what is wrong with the text, or undefined. */
  set(spec: FlagSpec, text: string): string | undefined {
    const problem = problemOf(spec, text);
    if (problem === undefined) {
      this.#given.set(spec.name, text);
      this.#items.delete(spec.name);
    }
    return problem;
  }

  /** Sets the value of a flag of type `strings`. The items are taken as they are. */
  setItems(spec: FlagSpec, items: readonly string[]): void {
    assert(spec.type === 'strings', `--${spec.name} is no list of texts`);
    this.#given.set(spec.name, items.join(','));
    this.#items.set(spec.name, items);
  }

  isSet(name: string): boolean {
    return this.#given.has(name);
  }

  /** The flags that were given and differ from their defaults, in the table's order. */
  changed(): readonly FlagSpec[] {
    return [...this.#table.values(), ...fileOnlySettings.values()].filter(
      ({ name, value }) => this.#given.has(name) && this.#given.get(name) !== value,
    );
  }

  text(name: string): string {
    return this.#raw(name, 'string', 'choice', 'gates');
  }

  bool(name: string): boolean {
    return goTrue.has(this.#raw(name, 'bool'));
  }

  /** The nearest number that is exact: a bound above 2^53 is no bound. */
  number(name: string): number {
    const value = parseGoInteger(this.#raw(name, 'int', 'uint', 'uint32'));
    assert(value !== undefined, `--${name} was taken over although it is no integer`);
    return Math.min(Math.max(Number(value), Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
  }

  durationMs(name: string): number {
    const ms = parseGoDuration(this.#raw(name, 'duration'));
    assert(ms !== undefined, `--${name} was taken over although it is no duration`);
    return ms;
  }

  list(name: string): readonly string[] {
    const text = this.#raw(name, 'strings', 'urls');
    const items = this.#items.get(name) ?? (text === '' ? [] : text.split(','));
    return items.map((item) => item.trim());
  }

  /**
   * The names of which a certificate must have one, as etcd reads them (pkg/flags/strings.go): an item is not trimmed,
   * and a flag with an empty text has one item, which is empty.
   */
  names(name: string): readonly string[] {
    const text = this.#raw(name, 'strings');
    return this.#items.get(name) ?? (this.isSet(name) ? text.split(',') : []);
  }

  #raw(name: string, ...types: readonly FlagType[]): string {
    const spec = this.#table.get(name) ?? fileOnlySettings.get(name);
    assert(spec !== undefined && types.includes(spec.type), `--${name} is no ${types.join(' or ')}`);
    return this.#given.get(name) ?? spec.value;
  }
}

// As Go's strconv.ParseBool.
const goTrue: ReadonlySet<string> = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);
const goFalse: ReadonlySet<string> = new Set(['0', 'f', 'F', 'FALSE', 'false', 'False']);
const INTEGERS = {
  int: [-(2n ** 63n), 2n ** 63n - 1n],
  uint: [0n, 2n ** 64n - 1n],
  uint32: [0n, 2n ** 32n - 1n],
} as const;

function problemOf({ type, choices = [] }: FlagSpec, text: string): string | undefined {
  switch (type) {
    case 'bool':
      return goTrue.has(text) || goFalse.has(text) ? undefined : 'parse error';
    case 'int':
    case 'uint':
    case 'uint32': {
      const value = parseGoInteger(text);
      if (value === undefined || (type !== 'int' && /^[+-]/.test(text))) return 'parse error';
      const [least, most] = INTEGERS[type];
      return value < least || value > most ? 'value out of range' : undefined;
    }
    case 'duration':
      return parseGoDuration(text) === undefined ? 'parse error' : undefined;
    case 'urls': {
      if (text === '') return undefined;
      const urls = parseUrls(text);
      return typeof urls === 'string' ? urls : undefined;
    }
    case 'choice':
      return choices.includes(text) ? undefined : 'invalid value';
    case 'gates': {
      const gates = parseFeatureGates(text);
      return typeof gates === 'string' ? gates : undefined;
    }
    case 'string':
    case 'strings':
      return undefined;
  }
}
