import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const examples = globSync(`${root}/examples/*.ts`).sort();

test('there are examples', () => expect(examples.length).toBeGreaterThan(1));

test.each(examples)('%s does what it says, and the README shows it or names it', async (path) => {
  const shown = readme.includes(readFileSync(path, 'utf8').trim());
  expect(shown || readme.includes(`examples/${basename(path)}`)).toBe(true);
  await import(path);
});

test('every example that the README shows is one of them', () => {
  const texts = examples.map((path) => readFileSync(path, 'utf8').trim());
  for (const [, block] of readme.matchAll(/```ts\n([\s\S]*?)```/g)) expect(texts).toContain(block!.trim());
});
