import { assert, parseGoDuration } from '@engram/core';
import { badArguments } from './ctl-error.ts';

/** `strings` is a list: items between commas, and the flag may be repeated. */
export type FlagKind = 'string' | 'bool' | 'int' | 'duration' | 'strings';

export interface FlagSpec {
  readonly name: string;
  /** One letter. */
  readonly shorthand?: string;
  readonly kind: FlagKind;
  /** The default, as typed on the command line. */
  readonly value: string;
  /** One line, as in --help. */
  readonly help: string;
  /** What completion offers. */
  readonly choices?: readonly string[];
}

const TRUE: ReadonlySet<string> = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);
const FALSE: ReadonlySet<string> = new Set(['0', 'f', 'F', 'FALSE', 'false', 'False']);

/**
 * The values of flags, read as spf13/pflag reads them: --name value, --name=value, -n value, -nvalue, -n=value, --bool,
 * --bool=false; flags and arguments in any order; `--` ends the flags. All values are valid for their kinds.
 */
export class Flags {
  readonly specs: readonly FlagSpec[];
  readonly #given = new Map<string, readonly string[]>();

  constructor(specs: readonly FlagSpec[]) {
    this.specs = specs;
  }

  /**
   * Takes the flags out of `args` and returns the rest. With `untilArgument` the first that is no flag ends it, and comes
   * first in what is returned. Throws CtlError bad-arguments.
   */
  parse(args: readonly string[], { untilArgument = false } = {}): readonly string[] {
    const rest: string[] = [];
    for (let at = 0; at < args.length; ) {
      const arg = args[at]!;
      if (arg === '--') return [...rest, ...args.slice(at + 1)];
      if (!/^-./.test(arg)) {
        if (untilArgument) return args.slice(at);
        rest.push(arg);
        at += 1;
        continue;
      }
      at += arg.startsWith('--') ? this.#long(arg, args[at + 1]) : this.#short(arg, args[at + 1]);
    }
    return rest;
  }

  /** Sets a value as the command line or the environment gives it. Throws CtlError bad-arguments. */
  set(spec: FlagSpec, text: string, label = labelOf(spec)): void {
    const problem = problemOf(spec, text);
    if (problem !== undefined) throw badArguments(`invalid argument ${JSON.stringify(text)} for ${label}: ${problem}`);
    if (spec.kind !== 'strings') {
      this.#given.set(spec.name, [text]);
      return;
    }
    const items = text === '' ? [] : text.split(',').map((item) => item.trim());
    this.#given.set(spec.name, [...(this.#given.get(spec.name) ?? []), ...items]);
  }

  changed(name: string): boolean {
    return this.#given.has(name);
  }

  text(name: string): string {
    return this.#last(name, 'string');
  }

  bool(name: string): boolean {
    return TRUE.has(this.#last(name, 'bool'));
  }

  int(name: string): number {
    return Number(this.#last(name, 'int'));
  }

  durationMs(name: string): number {
    const ms = parseGoDuration(this.#last(name, 'duration'));
    assert(ms !== undefined, `--${name} was taken although it is no duration`);
    return ms;
  }

  list(name: string): readonly string[] {
    const spec = this.#spec(name, 'strings');
    return this.#given.get(name) ?? (spec.value === '' ? [] : spec.value.split(','));
  }

  #last(name: string, kind: FlagKind): string {
    const spec = this.#spec(name, kind);
    return this.#given.get(name)?.at(-1) ?? spec.value;
  }

  #spec(name: string, kind: FlagKind): FlagSpec {
    const spec = this.specs.find((each) => each.name === name);
    assert(spec?.kind === kind, `--${name} is no flag of the kind ${kind}`);
    return spec;
  }

  /** Both return how many arguments were taken. */
  #long(arg: string, next: string | undefined): number {
    const [, name = '', inline] = /^--([^=]*)(?:=([\s\S]*))?$/.exec(arg) ?? [];
    if (name === '' || name.startsWith('-')) throw badArguments(`bad flag syntax: ${arg}`);
    const spec = this.specs.find((each) => each.name === name);
    if (spec === undefined) throw badArguments(`unknown flag: --${name}`);
    if (inline !== undefined || spec.kind === 'bool') {
      this.set(spec, inline ?? 'true');
      return 1;
    }
    if (next === undefined) throw badArguments(`flag needs an argument: --${name}`);
    this.set(spec, next);
    return 2;
  }

  #short(arg: string, next: string | undefined): number {
    for (let at = 1; at < arg.length; at += 1) {
      const letter = arg[at]!;
      const spec = this.specs.find((each) => each.shorthand === letter);
      if (spec === undefined) throw badArguments(`unknown shorthand flag: '${letter}' in ${arg}`);
      const behind = arg.slice(at + 1);
      if (behind.startsWith('=')) {
        this.set(spec, behind.slice(1));
        return 1;
      }
      if (spec.kind === 'bool') {
        this.set(spec, 'true');
        continue;
      }
      if (behind !== '') {
        this.set(spec, behind);
        return 1;
      }
      if (next === undefined) throw badArguments(`flag needs an argument: '${letter}' in ${arg}`);
      this.set(spec, next);
      return 2;
    }
    return 1;
  }
}

const labelOf = ({ name, shorthand }: FlagSpec): string =>
  `"${shorthand === undefined ? '' : `-${shorthand}, `}--${name}" flag`;

function problemOf({ kind }: FlagSpec, text: string): string | undefined {
  switch (kind) {
    case 'bool':
      return TRUE.has(text) || FALSE.has(text)
        ? undefined
        : `strconv.ParseBool: parsing ${JSON.stringify(text)}: invalid syntax`;
    case 'int':
      if (!/^[+-]?\d+$/.test(text)) return `strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`;
      return Number.isSafeInteger(Number(text))
        ? undefined
        : `strconv.ParseInt: parsing ${JSON.stringify(text)}: value out of range`;
    case 'duration':
      return parseGoDuration(text) === undefined ? `time: invalid duration ${JSON.stringify(text)}` : undefined;
    case 'string':
    case 'strings':
      return undefined;
  }
}
