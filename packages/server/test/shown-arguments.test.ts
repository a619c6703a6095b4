import { expect, test } from 'vitest';
import { shownArguments } from '../src/shown-arguments.ts';
import { Engram } from './support/engram-process.ts';

test.each([
  { args: ['migrate', '--from=a:1', '--from-user=root:secret'], shown: ['migrate', '--from=a:1', '--from-user=***'] },
  { args: ['-from-user', 'root:secret', '--name', 'a'], shown: ['-from-user', '***', '--name', 'a'] },
  { args: ['--to-user=a:=b\nc', '--to-user'], shown: ['--to-user=***', '--to-user'] },
  {
    args: ['--from-users=a:b', 'from-user=a:b', '--from-user='],
    shown: ['--from-users=a:b', 'from-user=a:b', '--from-user=***'],
  },
])('$args is shown without a password', ({ args, shown }) => {
  expect(shownArguments(args)).toEqual(shown);
});

test('a password of the command line is neither in the log nor told to clients', async () => {
  await using engram = await Engram.start([
    '--enable-pprof',
    '--discovery-password=secret-1',
    '--discovery-password',
    'secret-2',
  ]);
  const { args } = await engram.logged(({ msg }) => msg === 'starting a node');
  const told = await Promise.all(
    ['/debug/vars', '/debug/pprof/cmdline'].map(async (path) => (await fetch(engram.url + path)).text()),
  );
  for (const text of [JSON.stringify(args), ...told]) {
    expect(text).toContain('--discovery-password=***');
    expect(text).not.toContain('secret-');
  }
});
