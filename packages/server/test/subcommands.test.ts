import { expect, test } from 'vitest';
import { readConfiguration } from '@engram/server';
import { subcommands } from '../src/config/subcommands.ts';
import { usageText } from '../src/flags/usage.ts';

test.each([
  { args: ['health', '--name', 'a'], kind: 'health', why: 'the flags behind a command are those of a member' },
  { args: ['--name', 'a'], kind: 'config', why: 'without a command a member runs' },
  { args: ['inspect-storage', '--help'], kind: 'help', why: 'help says the same everywhere' },
  { args: ['health', '--version'], kind: 'version', why: 'so does the version' },
  { args: ['gateway', 'start'], kind: 'usage', why: 'etcd has it, and Engram does not' },
  { args: ['health', '--no-such-flag'], kind: 'usage', why: 'a flag that does not exist' },
])('engram $args: $kind ($why)', async ({ args, kind }) => {
  expect((await readConfiguration(args, {})).kind).toBe(kind);
});

test.each([
  { args: ['backup'], problem: '"backup" is not a valid flag' },
  { args: ['health', 'inspect-storage'], problem: '"inspect-storage" is not a valid flag' },
  { args: ['inspect-storage'], problem: 'inspect-storage needs --storage=tikv and --tikv-pd-endpoints' },
])('engram $args is refused', async ({ args, problem }) => {
  await expect(readConfiguration(args, {})).rejects.toThrow(problem);
});

test('every command is in the usage', () => {
  for (const name of subcommands.keys()) expect(usageText).toContain(`engram ${name} [flags]`);
});
