import { readFileSync, readdirSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { expect, test } from 'vitest';
import { defaultSettings, tikvErrorTable, TikvClient, type TikvClientOptions } from '../index.ts';
import { Loopback } from '../src/testing/loopback.ts';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
const examples = [...readme.matchAll(/## ?([^\n]*)\n|```ts\n([\s\S]*?)```/g)].reduce<{ title: string; code: string }[]>(
  (found, [, title, code]) => {
    if (code !== undefined) found.push({ title: `example ${found.length + 1}`, code });
    else if (title !== undefined && found.length === 0) return found;
    return found;
  },
  [],
);

test.each(examples)('README: $title runs as it stands', async ({ code }) => {
  await using loopback = await Loopback.start();
  const connect = (options: TikvClientOptions): Promise<TikvClient> =>
    TikvClient.connect({ ...options, pdAddresses: loopback.pdAddresses });
  const failures: unknown[][] = [];
  const console = { assert: (holds: boolean, ...rest: unknown[]) => void (holds || failures.push(rest)) };
  const body = stripTypeScriptTypes(code.replace(/^import [^\n]*\n/gm, ''), { mode: 'strip' });
  const run = new Function('TikvClient', 'console', `return (async () => {${body}\n})()`) as (
    client: unknown,
    console: unknown,
  ) => Promise<void>;
  await run({ connect }, console);
  expect(failures).toEqual([]);
});

test('README: there are examples, and every option and error is named', () => {
  expect(examples.length).toBeGreaterThanOrEqual(4);
  for (const name of [...Object.keys(defaultSettings), ...Object.keys(tikvErrorTable)])
    expect(readme).toContain(`\`${name}\``);
});

test('each of the 72 cases has its test', () => {
  const names = readdirSync(new URL('.', import.meta.url))
    .filter((file) => file.startsWith('cases-'))
    .map((file) => readFileSync(new URL(file, import.meta.url), 'utf8'))
    .join('\n');
  const missing = Array.from({ length: 72 }, (_, at) => at + 1).filter(
    (number) => !new RegExp(`['\`]case ${number}[: ,(]`).test(names),
  );
  expect(missing).toEqual([]);
});
