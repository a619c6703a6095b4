import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chart, type Parameter, readParameters, type Section } from './parameters.ts';

type Schema = Record<string, unknown> & { properties?: Record<string, Schema> };

/** The JSON schema of the values: every name is known, and has the type that values.yaml says. */
export function valuesSchema(sections: readonly Section[] = readParameters()): string {
  const schema: Schema = { $schema: 'http://json-schema.org/draft-07/schema#', ...emptyObject() };
  for (const { parameters } of sections)
    for (const { path, type, text } of parameters) {
      const keys = path.split('.');
      const last = keys.pop()!;
      let at = schema;
      for (const key of keys) at = at.properties![key] ??= emptyObject();
      at.properties![last] = { description: text, ...('values' in type ? { enum: type.values } : typeOf(type.kinds)) };
    }
  return `${JSON.stringify(schema, undefined, 2)}\n`;
}

const emptyObject = (): Schema => ({ type: 'object', additionalProperties: false, properties: {} });
const typeOf = (kinds: readonly string[]): Schema => ({ type: kinds.length === 1 ? kinds[0] : kinds });

const BEGIN = '<!-- parameters -->';
const END = '<!-- end of parameters -->';

/** The README with its tables of parameters anew. */
export function readme(
  text = readFileSync(join(chart, 'README.md'), 'utf8'),
  sections: readonly Section[] = readParameters(),
): string {
  const [before, after] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (before < 0 || after < before) throw new Error(`README.md of the chart has no ${BEGIN} and ${END}`);
  const tables = sections.map(({ title, parameters }) => {
    const rows = parameters.map((each) => `| \`${each.path}\` | ${describe(each)} | ${shown(each.value)} |\n`);
    return `### ${title}\n\n| name | what | default |\n| --- | --- | --- |\n${rows.join('')}`;
  });
  return `${text.slice(0, before)}${BEGIN}\n\n${tables.join('\n')}\n${text.slice(after)}`;
}

function describe({ type, text }: Parameter): string {
  const values = 'values' in type ? ` (${type.values.map((each) => `\`${each}\``).join(', ')})` : '';
  return `${text}${values}`;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 60 ? 'see values.yaml' : `\`${text.replaceAll('|', '\\|')}\``;
}
