import { parseArgs } from 'node:util';

/**
 * Reads the options of a benchmark: `--name value` for each default, with the default's type, and `--smoke`, which
 * replaces the defaults that `smoke` names so that a run takes seconds. Throws for an unknown option, and for a number
 * that is not valid.
 */
export function readOptions<Options extends Readonly<Record<string, number | string>>>(
  args: readonly string[],
  defaults: Options,
  smoke: Partial<Options>,
): { readonly [Name in keyof Options]: Options[Name] extends number ? number : string } {
  const names = Object.keys(defaults);
  const { values } = parseArgs({
    args: [...args],
    options: {
      smoke: { type: 'boolean' },
      ...Object.fromEntries(names.map((name) => [name, { type: 'string' as const }])),
    },
  });
  const given = new Map<string, unknown>(Object.entries(values));
  const chosen: Readonly<Record<string, number | string>> =
    given.get('smoke') === true ? { ...defaults, ...smoke } : defaults;
  const read = names.map((name) => {
    const text = given.get(name);
    if (typeof text !== 'string') return [name, chosen[name]];
    if (typeof defaults[name] === 'string') return [name, text];
    const value = Number(text);
    if (text.trim() === '' || !Number.isFinite(value) || value < 0) throw new Error(`--${name}: not a number: ${text}`);
    return [name, value];
  });
  return Object.fromEntries(read);
}
