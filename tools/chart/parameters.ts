import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { root } from '../release/bundle.ts';

export const chart = join(root, 'helm/engram');

export interface Parameter {
  readonly path: string;
  /** Types of JSON, or values. */
  readonly type: { readonly kinds: readonly string[] } | { readonly values: readonly (string | number)[] };
  readonly text: string;
  readonly value: unknown;
}

export interface Section {
  readonly title: string;
  readonly parameters: readonly Parameter[];
}

const jsonTypes = ['string', 'integer', 'boolean', 'array', 'object'];

/** The parameters that the comments of values.yaml describe, in their order. Throws for a value without a comment, and the reverse. */
export function readParameters(text = readFileSync(join(chart, 'values.yaml'), 'utf8')): readonly Section[] {
  const values: unknown = parse(text);
  const sections: { title: string; parameters: Parameter[] }[] = [];
  for (const [, tag, rest] of text.matchAll(/^\s*## @(\w+) (.+)$/gm)) {
    if (tag === 'section') sections.push({ title: rest!, parameters: [] });
    else if (tag === 'param') sections.at(-1)!.parameters.push(parameterOf(rest!, values));
    else throw new Error(`values.yaml: @${tag} is not known`);
  }
  const described = sections.flatMap(({ parameters }) => parameters.map(({ path }) => path));
  const open = sections.flatMap(({ parameters }) =>
    parameters.filter((each) => isObject(each.value)).map((each) => each.path),
  );
  const missing = leaves(values, open).filter((path) => !described.includes(path));
  if (missing.length > 0) throw new Error(`values.yaml does not describe ${missing.join(' ')}`);
  const twice = described.filter((path, at) => described.indexOf(path) !== at);
  if (twice.length > 0) throw new Error(`values.yaml describes twice ${twice.join(' ')}`);
  return sections;
}

function parameterOf(line: string, values: unknown): Parameter {
  const [, path, named, text] = /^(\S+) (?:\{([^}]+)\} )?(.+)$/.exec(line) ?? [];
  if (path === undefined || text === undefined) throw new Error(`values.yaml: @param ${line}`);
  const value = path.split('.').reduce<unknown>((at, key) => (isObject(at) ? at[key] : undefined), values);
  if (value === undefined) throw new Error(`values.yaml describes ${path}, which it does not have`);
  const words = named === undefined ? [typeof value] : named.split('|');
  if (words.every((word) => jsonTypes.includes(word))) return { path, type: { kinds: words }, text, value };
  const allowed = words.map((word) => (/^\d+$/.test(word) ? Number(word) : word));
  return { path, type: { values: allowed }, text, value };
}

function leaves(value: unknown, open: readonly string[], path = ''): readonly string[] {
  if (!isObject(value) || open.includes(path)) return [path];
  return Object.entries(value).flatMap(([key, each]) => leaves(each, open, path === '' ? key : `${path}.${key}`));
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
