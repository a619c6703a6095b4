import { forgottenFlags } from './flag-table.ts';
import type { FlagValues } from './flag-values.ts';

export type ParsedArguments =
  | {
      readonly kind: 'flags';
      readonly configFile: string | undefined;
      readonly version: boolean;
      readonly rest: readonly string[];
    }
  | { readonly kind: 'help' }
  /** `problem` is the text of Go's flag package. The process prints it with the usage and exits with code 2. */
  | { readonly kind: 'wrong'; readonly problem: string };

/** How to set one flag. A `bool` flag needs no text. */
interface Slot {
  readonly bool: boolean;
  /** Returns what is wrong with the text, or undefined. */
  readonly set: (text: string) => string | undefined;
}

/**
 * Reads arguments as Go's flag package does: -name v, --name v, -name=v, --bool, --bool=false. The last value of a flag
 * counts. Parsing stops at the first argument that is not a flag, or after "--". The rest is returned.
 */
export function parseArguments(args: readonly string[], values: FlagValues): ParsedArguments {
  const own: { 'config-file'?: string; version?: string } = {};
  const slotOf = (name: string): Slot | undefined => {
    const spec = values.spec(name);
    if (spec !== undefined) return { bool: spec.type === 'bool', set: (text) => values.set(spec, text) };
    if (name === 'config-file' || name === 'version') {
      const set = (text: string): undefined => {
        own[name] = text;
      };
      return { bool: name === 'version', set };
    }
    if (forgottenFlags.includes(name)) return { bool: true, set: () => undefined };
    return undefined;
  };

  let at = 0;
  for (; at < args.length; at += 1) {
    const arg = args[at]!;
    if (!/^-./.test(arg)) break;
    if (arg === '--') {
      at += 1;
      break;
    }
    const [, name, inline] = /^--?([^-=][^=]*)(?:=([\s\S]*))?$/.exec(arg) ?? [];
    if (name === undefined) return { kind: 'wrong', problem: `bad flag syntax: ${arg}` };
    const slot = slotOf(name);
    if (slot === undefined) {
      if (name === 'help' || name === 'h') return { kind: 'help' };
      return { kind: 'wrong', problem: `flag provided but not defined: -${name}` };
    }
    let text = inline ?? 'true';
    if (inline === undefined && !slot.bool) {
      at += 1;
      if (at === args.length) return { kind: 'wrong', problem: `flag needs an argument: -${name}` };
      text = args[at]!;
    }
    const problem = slot.set(text);
    if (problem !== undefined) {
      const what = slot.bool ? `boolean value ${JSON.stringify(text)} for` : `value ${JSON.stringify(text)} for flag`;
      return { kind: 'wrong', problem: `invalid ${what} -${name}: ${problem}` };
    }
  }
  return {
    kind: 'flags',
    configFile: own['config-file'],
    version: own.version !== undefined && !/^(?:0|f|F|FALSE|false|False)$/.test(own.version),
    rest: args.slice(at),
  };
}
