import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { etcdserverpb as pb } from '@engram/wire';
import { FakeMember } from './support/fake-member.ts';
import { ctl, ctlProcess, Engram, PATIENT, SilentPort } from './support/processes.ts';
import { Store } from './support/store.ts';

/** How long it is waited for a port that says nothing, beside one that must answer meanwhile. */
const BOUNDED = ['--dial-timeout=5s', '--command-timeout=30s'];

describe('a member that runs', () => {
  let engram: Engram;
  beforeAll(async () => {
    engram = await Engram.start();
  });
  afterAll(async () => await engram[Symbol.asyncDispose]());

  test('is reported, and the process ends with 0', async () => {
    const { code, out, err } = await ctlProcess(['check', ...PATIENT, '--endpoints', engram.address]);
    expect([code, err]).toEqual([0, '']);
    const id = '[0-9a-f]+';
    expect(out).toMatch(
      new RegExp(
        [
          `^cluster ${id}: 1 of 1 members answer, leader ${id}, revision 1`,
          `member default ${id}: leader at ${engram.address}, version 3\\.7\\.\\d+, term \\d+, lag 0`,
          '  database [\\d.]+ k?M?B, [\\d.]+ k?M?B in use, \\d+ % of the quota of [\\d.]+ GB',
          '  round trip [\\d.]+ ms, linearizable read [\\d.]+ ms',
          'alarms: none',
          'OK: nothing is wrong',
          '$',
        ].join('\n'),
      ),
    );
  });

  test('is one line of JSON', async () => {
    const { code, out } = await ctl(['check', '-o', 'json', ...PATIENT, '--endpoints', `http://${engram.address}`]);
    expect(code).toBe(0);
    expect(out.split('\n')).toHaveLength(2);
    const report = JSON.parse(out);
    expect(report).toMatchObject({
      exitCode: 0,
      findings: [],
      revision: 1,
      strangers: [],
      alarms: [],
      unanswered: [],
      members: [
        {
          name: 'default',
          isLearner: false,
          lag: 0,
          answer: { version: expect.stringMatching(/^3\.7\./), raftTerm: expect.any(Number) },
        },
      ],
    });
    expect(report.members[0].id).toBe(report.leader);
    expect(report.members[0].answer.readMs).toBeGreaterThan(0);
  });

  test('is a table', async () => {
    const { out } = await ctl(['check', '-w', 'table', ...PATIENT, '--endpoints', engram.address]);
    expect(out).toMatch(/│ ENDPOINT +│ ID +│ NAME +│ VERSION/);
    expect(out).toMatch(/│ leader +│/);
  });

  test('beside endpoints at which nothing answers is a warning, within the bounds', async () => {
    await using hanging = await SilentPort.listen();
    await using dead = await SilentPort.listen({ open: false });
    const endpoints = [engram.address, hanging.address, dead.address].join();
    const { code, out } = await ctl(['check', ...BOUNDED, '--endpoints', endpoints]);
    expect(code).toBe(1);
    expect(out).toContain(
      `warning: ${hanging.address}: context deadline exceeded: no connection to ${hanging.address} within 5000 ms`,
    );
    expect(out).toMatch(new RegExp(`warning: ${dead.address}: .*ECONNREFUSED`));
  });

  test('that has an alarm is critical', async () => {
    using store = new Store(engram.address);
    await store.raiseAlarm(0x123n, pb.AlarmType.NOSPACE);
    const { code, out } = await ctl(['check', ...PATIENT, '--endpoints', engram.address]);
    expect(code).toBe(2);
    expect(out).toContain('alarms: NOSPACE of 123\nCRITICAL\ncritical: alarm NOSPACE of member 123');
    expect(out).toContain('  next: compact (etcdctl compact REVISION)');
  });
});

describe('where nothing answers', () => {
  test('a dead port is critical at once', async () => {
    await using dead = await SilentPort.listen({ open: false });
    const { code, out } = await ctl(['check', '--endpoints', dead.address]);
    expect(code).toBe(2);
    expect(out).toMatch(
      /^cluster unknown: 0 of 0 members answer, leader unknown, revision 0\nalarms: none\nCRITICAL\ncritical: no member answers: /,
    );
    expect(out).toContain('ECONNREFUSED');
  });

  test('a port that says nothing is critical at the bound of the dial', async () => {
    await using hanging = await SilentPort.listen();
    const { code, out } = await ctl(['check', '--dial-timeout=300ms', '--endpoints', hanging.address]);
    expect([code, out.includes('within 300 ms')]).toEqual([2, true]);
  });

  test('the other commands end with the code of a connection', async () => {
    await using dead = await SilentPort.listen({ open: false });
    await using hanging = await SilentPort.listen();
    const endpoints = ['--dial-timeout=1s', '--endpoints', `${dead.address},${hanging.address}`];
    for (const args of [['inspect'], ['diff', 'a', '1'], ['history', 'a']]) {
      const { code, out, err } = await ctl([...args, ...endpoints]);
      expect([code, out]).toEqual([2, '']);
      expect(err).toMatch(/^Error: no endpoint answers: .*ECONNREFUSED.*; .*within 1000 ms\n$/);
    }
  });

  test('an interrupt ends the wait', async () => {
    await using hanging = await SilentPort.listen();
    const stop = new AbortController();
    const work = ctl(['check', '--dial-timeout=1h', '--endpoints', hanging.address], { signal: stop.signal });
    stop.abort(new Error('stopped by SIGTERM'));
    expect(await work).toEqual({ code: 5, out: '', err: 'Error: stopped by SIGTERM\n' });
  });
});

describe('TLS', () => {
  test('the end of a certificate is reported, and one that is not trusted is refused', async () => {
    await using engram = await Engram.start(['--auto-tls', '--self-signed-cert-validity=1'], 'https');
    const endpoint = `https://${engram.address}`;
    const refused = await ctl(['check', '--endpoints', endpoint]);
    expect([refused.code, /certificate/.test(refused.out)]).toEqual([2, true]);
    const skipped = await ctl([
      'check',
      '-o',
      'json',
      '--insecure-skip-tls-verify',
      ...PATIENT,
      '--endpoints',
      endpoint,
    ]);
    expect(JSON.parse(skipped.out)).toMatchObject({
      certificates: [{ of: endpoint, endsAtMs: expect.any(Number) }],
      findings: [],
    });
    expect(skipped.code).toBe(0);
    const later = await ctl(['check', '--insecure-skip-tls-verify', ...PATIENT, '--endpoints', endpoint], {
      nowMs: () => Date.now() + 360 * 86_400_000,
    });
    expect([later.code, later.out]).toEqual([
      2,
      expect.stringMatching(/critical: the certificate of https:\S+ \(.*\) ends in \d days?, at /),
    ]);
    const file = readdirSync(engram.dataDir, { recursive: true })
      .map(String)
      .find((name) => name.endsWith('cert.pem'));
    const trusted = await ctl(['check', '--cacert', join(engram.dataDir, file!), ...PATIENT, '--endpoints', endpoint]);
    expect(trusted.out).toContain('certificate of --cacert: ');
    expect(trusted.code).toBe(0);
  });
});

describe('a cluster of three', () => {
  test('of which one lags and has another version', async () => {
    await using first = await FakeMember.start(1n, { status: { raftAppliedIndex: 9000 } });
    await using second = await FakeMember.start(2n, { status: { raftAppliedIndex: 9000 } });
    await using third = await FakeMember.start(3n, { status: { raftAppliedIndex: 10, version: '3.6.4' } });
    const endpoints = [first, second, third].map(({ address }) => address).join();
    const { code, out } = await ctl(['check', ...PATIENT, '--endpoints', endpoints]);
    expect(code).toBe(1);
    expect(out).toContain('cluster 1: 3 of 3 members answer, leader 1, revision 7\n');
    expect(out).toContain('warning: the members have different versions: 3.6.4, 3.7.3');
    expect(out).toContain('warning: member m3 (3) is 8990 entries of the log behind');
  });

  test('of which two are away, and the third serves no reads', async () => {
    await using only = await FakeMember.start(1n, { status: { leader: 0n }, reads: false });
    const { code, out } = await ctl(['check', ...PATIENT, '--endpoints', only.address]);
    expect(code).toBe(2);
    for (const what of [
      'critical: 1 voting member of 3 can be reached from here, and a quorum is 2',
      'critical: no member knows a leader',
      'critical: member m1 (1) does not serve linearizable reads: etcdserver: request timed out',
      'warning: member m2 (2) does not answer',
    ])
      expect(out).toContain(what);
  });

  test('and an endpoint of another cluster', async () => {
    await using first = await FakeMember.start(1n, { status: {}, members: [1n] });
    await using other = await FakeMember.start(9n, {
      status: { header: { clusterId: 2n, memberId: 9n, revision: 1 } },
      members: [9n],
    });
    const { code, out } = await ctl(['check', ...PATIENT, '--endpoints', `${first.address},${other.address}`]);
    expect([code, out]).toEqual([
      2,
      expect.stringContaining('critical: the endpoints belong to different clusters: 1, 2'),
    ]);
    expect(out).toContain('the member 9 answers, which is not in the list of members');
  });

  test('whose answers are larger than a message may be', async () => {
    await using large = await FakeMember.start(1n, { status: {} });
    const { code, out } = await ctl(['check', ...PATIENT, '--endpoints', large.address, '--max-recv-bytes=1']);
    expect([code, out]).toEqual([2, expect.stringMatching(/no member answers: .*larger than max/)]);
  });
});

describe('users', () => {
  const asked = async (
    args: readonly string[],
    options: Parameters<typeof FakeMember.start>[1] = { status: {}, members: [1n] },
  ) => {
    await using member = await FakeMember.start(1n, options);
    const ended = await ctl(['check', ...PATIENT, '--endpoints', member.address, ...args], {
      askPassword: async () => 'asked',
    });
    return { ...ended, logins: member.logins, tokens: [...new Set(member.tokens)] };
  };

  test.each([
    [['--user=root:a:b'], ['root a:b']],
    [['--user=root', '--password=secret'], ['root secret']],
    [['--user=root'], ['root asked']],
    [['--auth-jwt-token=ey.x.y', '--user=root:pass'], []],
  ])('%j log in as %j, and every call has the token', async (args, logins) => {
    const { code, ...seen } = await asked(args);
    expect([code, seen.logins, seen.tokens]).toEqual([0, logins, [logins.length === 0 ? 'ey.x.y' : 'token-1']]);
  });

  test('are not needed where authentication is off', async () => {
    const { code, tokens } = await asked(['--user=root:x'], {
      status: {},
      members: [1n],
      login: 'etcdserver: authentication is not enabled',
    });
    expect([code, tokens]).toEqual([0, []]);
  });

  test('whom the cluster refuses end the command', async () => {
    const login = 'etcdserver: authentication failed, invalid user ID or password';
    const { code, out, err } = await asked(['--user=root:x'], { status: {}, login });
    expect([code, out, err]).toEqual([2, '', `Error: ${login}\n`]);
  });
});
