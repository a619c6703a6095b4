import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readme, valuesSchema } from '../tools/chart/generate.ts';
import { chart, readParameters } from '../tools/chart/parameters.ts';

const file = (name: string): string => readFileSync(join(chart, name), 'utf8');

test('README and values.schema.json are those of values.yaml (make chart)', () => {
  expect(file('values.schema.json')).toBe(valuesSchema());
  expect(file('README.md')).toBe(readme());
});

test('every value has a description, and every description a value', () => {
  const text = '## @section S\n## @param a {1|2} text\na: 1\nb:\n  ## @param b.c text\n  c: x\n';
  expect(readParameters(text)).toEqual([
    {
      title: 'S',
      parameters: [
        { path: 'a', type: { values: [1, 2] }, text: 'text', value: 1 },
        { path: 'b.c', type: { kinds: ['string'] }, text: 'text', value: 'x' },
      ],
    },
  ]);
  expect(() => readParameters(`${text}  d: 1\n`)).toThrow('does not describe b.d');
  expect(() => readParameters(`${text}## @param e text\n`)).toThrow('describes e, which it does not have');
});

test('the chart is of the version of the program', () => {
  const { version } = JSON.parse(readFileSync(join(chart, '../../package.json'), 'utf8'));
  expect(parse(file('Chart.yaml'))).toMatchObject({ version, appVersion: version });
});
