import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { commands } from '../src/commands.ts';
import { ctl, ctlProcess, engramctlPath } from './support/processes.ts';

describe('help', () => {
  const HELP = `\
The operator's tool of Engram, for any store that speaks etcd v3.

Usage:
  engramctl [command]

Key-value commands
  inspect     Shows what Kubernetes stores: sizes, counts and changes by resource and namespace
  diff        Shows what has changed of a key or a prefix between two revisions
  history     Lists the changes of a key or a prefix, from a revision on

Cluster maintenance commands
  check       Reports on a live cluster: what is wrong, and what to do next
  restore     Makes a data directory from a snapshot, as \`engram restore\`
  migrate     Starts a node that follows a running etcd, as \`engram migrate\`
  cut-over    Lets the node that follows an etcd take writes, as \`engram cut-over\`
  mirror      Writes each revision of a store into an etcd, as \`engram mirror\`

Utility commands
  completion  Generate completion script
  options     Show the global command-line flags
  version     Prints the version of engramctl

Use "engramctl [command] --help" for more information about a command.
Use "engramctl options" for a list of global command-line options (applies to all commands).
`;

  test.each([[[]], [['--help']], [['-h']], [['help']]])('of the program: %j', async (args) => {
    expect(await ctl(args)).toEqual({ code: 0, out: HELP, err: '' });
  });

  test('of a command, in each way to ask for it', async () => {
    const asked = [
      ['diff', '--help'],
      ['--help', 'diff'],
      ['help', 'diff'],
      ['diff', '-h', 'too', 'many', 'arguments', 'here'],
    ];
    for (const args of asked) {
      const { code, out } = await ctl(args);
      expect([args, code, out]).toEqual([
        args,
        0,
        `\
Compares a key, or with --prefix all keys that begin with it, at two revisions of the live store, both of which must not be
compacted. Without TO it is the newest revision. Of a single key the values are compared, too.

Usage:
  engramctl diff [flags] KEY FROM [TO]

Options:
      --prefix   all keys that begin with KEY; with an empty KEY, all keys
      --values   show how values differ: the fields of JSON, otherwise the sizes

Use "engramctl options" for a list of global command-line options (applies to all commands).
`,
      ]);
    }
  });

  test('of every command has a usage, and names no flag twice', async () => {
    for (const { name, flags } of commands) {
      expect((await ctl([name, '--help'])).out).toContain(`Usage:\n  engramctl ${name}`);
      expect(new Set(flags.map((flag) => flag.name)).size).toBe(flags.length);
    }
  });

  test("options lists etcdctl's flags, with its defaults", async () => {
    const { out } = await ctl(['options']);
    expect(out).toContain('The following options can be passed to any command:\n\n');
    expect(out).toMatch(
      /^ {6}--command-timeout duration +timeout for short running command \(excluding dial timeout\) \(default 5s\)$/m,
    );
    expect(out).toMatch(/^ {6}--endpoints strings +gRPC endpoints \(default \[127\.0\.0\.1:2379\]\)$/m);
    expect(out).toMatch(
      /^ {2}-w, --write-out string +set the output format \(json, simple, table\) \(default "simple"\)$/m,
    );
    expect(out).toMatch(
      /^ {6}--insecure-transport +disable transport security for client connections \(default true\)$/m,
    );
  });

  test('version', async () => {
    expect(await ctl(['version'])).toEqual({ code: 0, out: 'engramctl version: 0.1.0\nAPI version: 3.7\n', err: '' });
  });
});

describe('arguments that are wrong change nothing, and end with a code that no report has', () => {
  test.each([
    [['nothing'], 128, 'Error: unknown command "nothing" for "engramctl"\n'],
    [['help', 'nothing'], 128, 'Error: unknown command "nothing" for "engramctl"\n'],
    [[''], 128, 'Error: unknown command "" for "engramctl"\n'],
    [['check', 'x'], 128, 'Error: unknown command "x" for "engramctl check"\n'],
    [['check', '--nothing'], 128, 'Error: unknown flag: --nothing\n'],
    [['check', '--rev=1'], 128, 'Error: unknown flag: --rev\n'],
    [['--endpoints'], 128, 'Error: flag needs an argument: --endpoints\n'],
    [['check', '--endpoints='], 128, 'Error: no endpoints\n'],
    [['check', '--endpoints=http://x'], 128, 'Error: endpoint "http://x": expected host:port'],
    [['check', '--dial-timeout=0s'], 128, 'Error: --dial-timeout must be above 0: every wait has an end\n'],
    [['check', '--cert=x.pem'], 128, 'Error: KeyFile and CertFile must both be present[key: , cert: x.pem]\n'],
    [['check', '--cacert='], 128, 'Error: empty string is passed to --cacert option\n'],
    [['check', '--cacert=/nothing.pem'], 128, 'Error: cannot read /nothing.pem: ENOENT'],
    [['check', '-w', 'fields'], 4, 'Error: unsupported output format\n'],
    [['check', '-o', 'yaml'], 4, 'Error: unsupported output format\n'],
    [['check', '-o', 'json', '-w', 'table'], 128, 'Error: --output and --write-out say different things\n'],
    [['diff', 'a'], 128, 'Error: accepts between 2 and 3 arg(s), received 1\n'],
    [['diff', 'a', 'x'], 128, 'Error: FROM "x" is no revision: they begin at 1\n'],
    [['diff', 'a', '0'], 128, 'Error: FROM "0" is no revision: they begin at 1\n'],
    [['diff', 'a', '9', '8'], 128, 'Error: TO 8 is before FROM 9\n'],
    [['diff', '', '1'], 128, 'Error: KEY is empty: give one, or --prefix for all keys\n'],
    [['history'], 128, 'Error: accepts 1 arg(s), received 0\n'],
    [['history', 'a', '--limit=-1'], 128, 'Error: --limit is below 0\n'],
    [['history', 'a', '--rev=-1'], 128, 'Error: revisions begin at 1\n'],
    [['inspect', '--top=0'], 128, 'Error: --top must be 1 at least\n'],
    [['inspect', '/nothing.db'], 128, 'Error: there is no file /nothing.db\n'],
    [
      ['completion', 'tcsh'],
      128,
      'Error: invalid argument "tcsh" for "engramctl completion": one of bash, zsh, fish\n',
    ],
    [['restore'], 128, 'Error: snapshot restore requires exactly one argument\n'],
    [['restore', '--nothing', 'x'], 128, 'Error: flag provided but not defined: -nothing\n'],
    [['restore', '--version'], 128, 'Error: restore does not take these flags\n'],
    [['migrate'], 1, 'Error: migrate needs --from, the endpoints of the etcd to follow\n'],
    [['migrate', '--nothing'], 128, 'Error: flag provided but not defined: -nothing\n'],
    [['cut-over', '--data-dir=/nothing'], 1, 'Error: no store that follows an etcd runs on /nothing: '],
    [['mirror'], 1, 'Error: mirror needs --to, the endpoints of the etcd to write to\n'],
    [['mirror', '--to=127.0.0.1:1', 'more'], 128, 'Error: mirror takes no argument "more"\n'],
  ])('%j', async (args, code, text) => {
    const ended = await ctl(args);
    expect([ended.code, ended.out]).toEqual([code, '']);
    expect(ended.err.startsWith(text), ended.err).toBe(true);
    expect(ended.err.endsWith("Run 'engramctl --help' for usage.\n")).toBe(code === 128);
  });

  test('a variable beside its flag', async () => {
    const { code, err } = await ctl(['check', '--endpoints=x:1'], { environment: { ETCDCTL_ENDPOINTS: 'y:1' } });
    expect([code, err.includes('conflicting environment variable "ETCDCTL_ENDPOINTS"')]).toEqual([128, true]);
  });
});

test('a command may be shortened as long as it is the only one', async () => {
  expect((await ctl(['ver'])).out).toContain('engramctl version: ');
});

test('what is stopped says by what, and ends with its own code', async () => {
  const signal = AbortSignal.abort(new Error('stopped by SIGINT'));
  expect(await ctl(['check'], { signal })).toEqual({ code: 5, out: '', err: 'Error: stopped by SIGINT\n' });
});

describe('completion', () => {
  const scratch = (): string => {
    const folder = mkdtempSync(join(tmpdir(), 'engramctl-completion-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    return folder;
  };

  test('each script names every command and every flag', async () => {
    for (const shell of ['bash', 'zsh', 'fish']) {
      const { code, out } = await ctl(['completion', shell]);
      expect(code).toBe(0);
      for (const { name, flags } of commands) {
        expect(out).toContain(name);
        for (const flag of flags) expect(out).toMatch(new RegExp(`(--|-l )${flag.name}\\b`));
      }
      expect(out).toMatch(/(--|-l )command-timeout\b/);
    }
  });

  test('bash completes commands, flags and values', async () => {
    const file = join(scratch(), 'completion.bash');
    writeFileSync(file, (await ctl(['completion', 'bash'])).out);
    const completed = (...words: readonly string[]): readonly string[] => {
      const script = `source ${file}; COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _engramctl; printf '%s\\n' "\${COMPREPLY[@]}"`;
      const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', script], { encoding: 'utf8' });
      expect(stderr).toBe('');
      return stdout.split('\n').filter((line) => line !== '');
    };
    expect(completed('engramctl', 'i')).toEqual(['inspect']);
    expect(completed('engramctl', '')).toEqual(
      expect.arrayContaining(['check', 'inspect', 'diff', 'history', 'restore', 'migrate', 'cut-over', 'mirror']),
    );
    expect(completed('engramctl', 'diff', '--pre')).toEqual(['--prefix']);
    expect(completed('engramctl', 'diff', '--endp')).toEqual(['--endpoints']);
    expect(completed('engramctl', 'check', '-o', 't')).toEqual(['table']);
    expect(completed('engramctl', 'completion', '')).toEqual(['bash', 'zsh', 'fish']);
    expect(completed('engramctl', '--hex', 'his')).toEqual(['history']);
  });
});

describe('the launcher', () => {
  test('starts the program, through a link, and passes its exit code on', async () => {
    expect(await ctlProcess(['version'])).toMatchObject({
      code: 0,
      err: '',
      out: expect.stringContaining('API version'),
    });
    expect(await ctlProcess(['nothing'])).toMatchObject({ code: 128, out: '' });
  });

  test('a reader that goes away ends the program quietly', () => {
    const { status, stdout, stderr } = spawnSync(
      'bash',
      ['-c', `'${engramctlPath}' completion zsh | true; echo "\${PIPESTATUS[0]}"`],
      {
        encoding: 'utf8',
      },
    );
    expect([status, stderr]).toEqual([0, '']);
    expect(['0', '6']).toContain(stdout.trim());
  });
});
