import { describe, expect, test } from 'vitest';
import { Flags, type FlagSpec } from '../src/cli/flags.ts';
import { debugText, globalFlags, takeEnvironment } from '../src/cli/global-flags.ts';

const specs: readonly FlagSpec[] = [
  { name: 'write-out', shorthand: 'w', kind: 'string', value: 'simple', help: '' },
  { name: 'verbose', shorthand: 'v', kind: 'bool', value: 'false', help: '' },
  { name: 'quick', shorthand: 'q', kind: 'bool', value: 'false', help: '' },
  { name: 'limit', kind: 'int', value: '0', help: '' },
  { name: 'wait', kind: 'duration', value: '5s', help: '' },
  { name: 'endpoints', kind: 'strings', value: 'a:1,b:2', help: '' },
];

function parsed(args: readonly string[]): { readonly flags: Flags; readonly rest: readonly string[] } {
  const flags = new Flags(specs);
  return { flags, rest: flags.parse(args) };
}

describe('flags are read as pflag reads them', () => {
  test.each([
    [['--write-out', 'json', 'key'], 'json', ['key']],
    [['--write-out=json', 'key'], 'json', ['key']],
    [['key', '-w', 'json'], 'json', ['key']],
    [['-wjson'], 'json', []],
    [['-w=json'], 'json', []],
    [['-vqw', 'json', 'a', 'b'], 'json', ['a', 'b']],
    [['--write-out=', 'key'], '', ['key']],
    [['--write-out=a=b'], 'a=b', []],
    [['-w', 'json', '-w', 'table'], 'table', []],
    [['--', '-w', 'json'], 'simple', ['-w', 'json']],
    [['-', 'x'], 'simple', ['-', 'x']],
    [['--write-out', '--verbose'], '--verbose', []],
  ])('%j', (args, form, arguments_) => {
    const { flags, rest } = parsed(args);
    expect([flags.text('write-out'), rest]).toEqual([form, arguments_]);
  });

  test('a bool needs no value, and does not take the next argument for one', () => {
    const { flags, rest } = parsed(['--verbose', 'false', '--quick=false']);
    expect([flags.bool('verbose'), flags.bool('quick'), rest]).toEqual([true, false, ['false']]);
  });

  test('a list replaces the default, and grows', () => {
    expect(parsed([]).flags.list('endpoints')).toEqual(['a:1', 'b:2']);
    expect(parsed(['--endpoints', 'x:1, y:2', '--endpoints=z:3']).flags.list('endpoints')).toEqual([
      'x:1',
      'y:2',
      'z:3',
    ]);
    expect(parsed(['--endpoints=']).flags.list('endpoints')).toEqual([]);
  });

  test('numbers and durations', () => {
    const { flags } = parsed(['--limit=-7', '--wait', '1m30s']);
    expect([flags.int('limit'), flags.durationMs('wait'), flags.changed('limit'), flags.changed('verbose')]).toEqual([
      -7,
      90_000,
      true,
      false,
    ]);
  });

  test.each([
    [['--nothing'], 'unknown flag: --nothing'],
    [['-x'], "unknown shorthand flag: 'x' in -x"],
    [['-vx'], "unknown shorthand flag: 'x' in -vx"],
    [['--write-out'], 'flag needs an argument: --write-out'],
    [['-vw'], "flag needs an argument: 'w' in -vw"],
    [['--=x'], 'bad flag syntax: --=x'],
    [['---write-out'], 'bad flag syntax: ---write-out'],
    [['--limit=x'], 'invalid argument "x" for "--limit" flag: strconv.ParseInt: parsing "x": invalid syntax'],
    [['--limit=9007199254740993'], 'value out of range'],
    [['--limit='], 'invalid syntax'],
    [
      ['--verbose=yes'],
      'invalid argument "yes" for "-v, --verbose" flag: strconv.ParseBool: parsing "yes": invalid syntax',
    ],
    [['--wait=5'], 'invalid argument "5" for "--wait" flag: time: invalid duration "5"'],
  ])('%j is refused: %s', (args, problem) => {
    expect(() => parsed(args)).toThrow(problem);
  });
});

describe('variables', () => {
  const given = (
    args: readonly string[],
    environment: Readonly<Record<string, string>>,
  ): { flags: Flags; warnings: readonly string[] } => {
    const flags = new Flags(globalFlags);
    flags.parse(args);
    return { flags, warnings: takeEnvironment(environment, flags) };
  };

  test('set the flags that were not given', () => {
    const { flags, warnings } = given(['--user=root'], {
      ETCDCTL_ENDPOINTS: 'http://a:1,http://b:2',
      ETCDCTL_COMMAND_TIMEOUT: '90s',
      ETCDCTL_INSECURE_SKIP_TLS_VERIFY: 'true',
      ETCDCTL_WRITE_OUT: 'table',
      ETCDCTL_API: '3',
      ETCDCTL_CACERT: '',
      ETCD_NAME: 'm1',
    });
    expect(warnings).toEqual([]);
    expect(flags.list('endpoints')).toEqual(['http://a:1', 'http://b:2']);
    expect([
      flags.durationMs('command-timeout'),
      flags.bool('insecure-skip-tls-verify'),
      flags.text('write-out'),
    ]).toEqual([90_000, true, 'table']);
    expect(flags.changed('cacert')).toBe(false);
  });

  test('beside their flag are refused, as by etcdctl', () => {
    expect(() => given(['--endpoints=x:1'], { ETCDCTL_ENDPOINTS: 'y:1' })).toThrow(
      'conflicting environment variable "ETCDCTL_ENDPOINTS" is shadowed by corresponding command-line flag',
    );
  });

  test('of no flag are warned of by name, without the value', () => {
    expect(given([], { ETCDCTL_PASWORD: 'secret' }).warnings).toEqual([
      'unrecognized environment variable ETCDCTL_PASWORD',
    ]);
  });

  test('with a value that is none are refused', () => {
    expect(() => given([], { ETCDCTL_DIAL_TIMEOUT: 'soon' })).toThrow(
      'invalid argument "soon" for ETCDCTL_DIAL_TIMEOUT: time: invalid duration "soon"',
    );
  });

  test('--debug shows every flag and no secret', () => {
    const { flags } = given(['--user=root:hunter2', '--password=hunter2', '--auth-jwt-token=ey.hunter2'], {});
    const text = debugText(flags);
    expect(text).not.toContain('hunter2');
    expect(text).toContain('ETCDCTL_USER=***\n');
    expect(text).toContain('ETCDCTL_ENDPOINTS=[127.0.0.1:2379]\n');
    expect(text.split('\n')).toHaveLength(globalFlags.length + 1);
  });
});
