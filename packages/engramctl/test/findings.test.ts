import { expect, test } from 'vitest';
import type { ClusterReport, MemberAnswer, MemberReport } from '../src/check/cluster-report.ts';
import { exitCodeOf, findingsOf } from '../src/check/findings.ts';

const DAY_MS = 86_400_000;
const NOW_MS = Date.UTC(2026, 0, 1);

const answerOf = (fields: Partial<MemberAnswer> = {}): MemberAnswer => ({
  endpoint: 'http://10.0.0.1:2379',
  clusterId: 'c1',
  version: '3.7.3',
  storageVersion: '3.7.0',
  leader: 'a',
  revision: 100,
  raftTerm: 2,
  raftIndex: 200,
  raftAppliedIndex: 200,
  dbSize: 1000,
  dbSizeInUse: 500,
  dbSizeQuota: 10_000,
  downgrade: '',
  errors: [],
  roundTripMs: 0.5,
  readMs: 1,
  ...fields,
});

const memberOf = (
  id: string,
  answer: Partial<MemberAnswer> | undefined = {},
  fields: Partial<MemberReport> = {},
): MemberReport => ({
  id,
  name: `m-${id}`,
  isLearner: false,
  peerUrls: [],
  clientUrls: [`http://${id}:2379`],
  problems: answer === undefined ? [`http://${id}:2379: refused`] : [],
  ...fields,
  ...(answer === undefined ? {} : { answer: answerOf(answer) }),
});
const down = (id: string, fields: Partial<MemberReport> = {}): MemberReport => {
  const { answer: _none, ...rest } = memberOf(id);
  return { ...rest, problems: [`http://${id}:2379: refused`], ...fields };
};

const reportOf = (fields: Partial<ClusterReport> = {}): ClusterReport => ({
  clusterIds: ['c1'],
  members: [memberOf('a'), memberOf('b'), memberOf('c')],
  strangers: [],
  alarms: [],
  certificates: [],
  unanswered: [],
  ...fields,
});
const certificate = (days: number) => ({
  of: 'https://x:1',
  subject: 'CN=x',
  endsAt: '2026-02-02T00:00:00.000Z',
  endsAtMs: NOW_MS + days * DAY_MS,
});

test('a sound cluster has no findings', () => expect(findingsOf(reportOf(), NOW_MS)).toEqual([]));

const cases: readonly (readonly [
  what: string,
  code: number,
  texts: readonly string[],
  report: Partial<ClusterReport>,
])[] = [
  [
    'nothing answers',
    2,
    ['critical: no member answers: x:1: refused'],
    { members: [], clusterIds: [], strangers: [{ endpoint: 'x:1', problem: 'refused' }] },
  ],
  [
    'one of three is away: a quorum and no more',
    1,
    [
      'warning: 2 of 3 voting members can be reached, just a quorum',
      'warning: member m-c (c) does not answer: http://c:2379: refused',
    ],
    { members: [memberOf('a'), memberOf('b'), down('c')] },
  ],
  [
    'two of three are away: no quorum',
    2,
    [
      'critical: 1 voting member of 3 can be reached from here, and a quorum is 2',
      'warning: member m-b',
      'warning: member m-c',
    ],
    { members: [memberOf('a'), down('b'), down('c')] },
  ],
  [
    'one of two is away: no quorum',
    2,
    ['critical: 1 voting member of 2 can be reached from here, and a quorum is 2', 'warning: member m-b'],
    { members: [memberOf('a'), down('b')] },
  ],
  [
    'one of five is away',
    1,
    ['warning: member m-e'],
    { members: [...['a', 'b', 'c', 'd'].map((id) => memberOf(id)), down('e')] },
  ],
  [
    'no leader',
    2,
    ['critical: no member knows a leader'],
    { members: ['a', 'b', 'c'].map((id) => memberOf(id, { leader: '0' })) },
  ],
  [
    'two leaders',
    2,
    ['critical: the members do not name the same leader'],
    { members: [memberOf('a'), memberOf('b', { leader: 'b' }), memberOf('c')] },
  ],
  ['two clusters', 2, ['critical: the endpoints belong to different clusters: c1, c2'], { clusterIds: ['c1', 'c2'] }],
  [
    'two versions',
    1,
    ['warning: the members have different versions: 3.6.1, 3.7.3'],
    { members: [memberOf('a'), memberOf('b', { version: '3.6.1' }), memberOf('c')] },
  ],
  [
    'the alarm NOSPACE',
    2,
    ['critical: alarm NOSPACE of member b'],
    {
      alarms: [{ memberId: 'b', alarm: 'NOSPACE' }],
      members: [memberOf('a', { errors: ['memberID:11 alarm:NOSPACE '] })],
    },
  ],
  ['the alarm CORRUPT', 2, ['critical: alarm CORRUPT of member b'], { alarms: [{ memberId: 'b', alarm: 'CORRUPT' }] }],
  ['an unknown alarm', 2, ['critical: an alarm of an unknown kind'], { alarms: [{ memberId: 'b', alarm: 'UNKNOWN' }] }],
  [
    'another error of a member',
    2,
    ['critical: member m-a (a) reports: etcdserver: no leader'],
    { members: [memberOf('a', { errors: ['etcdserver: no leader'] })] },
  ],
  [
    'a member that lags',
    1,
    ['warning: member m-b (b) is 5001 entries of the log behind'],
    { members: [memberOf('a', { raftAppliedIndex: 10_001 }), memberOf('b', { raftAppliedIndex: 5000 })] },
  ],
  [
    'a member that lags by as much as is allowed',
    0,
    [],
    { members: [memberOf('a', { raftAppliedIndex: 10_000 }), memberOf('b', { raftAppliedIndex: 5000 })] },
  ],
  [
    'revisions that lag',
    1,
    ['warning: member m-b (b) is 5001 entries'],
    { members: [memberOf('a', { revision: 5101 }), memberOf('b')] },
  ],
  [
    'slow reads',
    1,
    ['warning: member m-a (a) takes 101 ms for a linearizable read'],
    { members: [memberOf('a', { readMs: 101 })] },
  ],
  [
    'no reads',
    2,
    ['critical: member m-a (a) does not serve linearizable reads: timed out'],
    { members: [memberOf('a', { readProblem: 'timed out' })] },
  ],
  [
    'four fifths of the quota',
    1,
    ['warning: member m-a (a) has 8.0 kB of its quota of 10 kB (80 %)'],
    { members: [memberOf('a', { dbSize: 8000 })] },
  ],
  [
    'nearly all of the quota',
    2,
    ['critical: member m-a (a) has 9.5 kB'],
    { members: [memberOf('a', { dbSize: 9500 })] },
  ],
  ['no quota known', 0, [], { members: [memberOf('a', { dbSizeQuota: 0 })] }],
  [
    'a learner',
    0,
    ['note: member m-b (b) is a learner'],
    { members: [memberOf('a'), memberOf('b', { readProblem: 'not supported for learner' }, { isLearner: true })] },
  ],
  [
    'a learner that is away, beside a voter that serves',
    1,
    ['warning: member m-b (b) does not answer'],
    { members: [memberOf('a'), down('b', { isLearner: true })] },
  ],
  [
    'a member that never started',
    1,
    ['warning: 2 of 3 voting members', 'warning: member c has never started'],
    { members: [memberOf('a'), memberOf('b'), down('c', { name: '', clientUrls: [], problems: [] })] },
  ],
  ['a downgrade', 0, ['note: a downgrade to 3.6 is under way'], { members: [memberOf('a', { downgrade: '3.6' })] }],
  ['an endpoint that is away', 1, ['warning: x:1: refused'], { strangers: [{ endpoint: 'x:1', problem: 'refused' }] }],
  [
    'what may not be asked',
    2,
    ['critical: x:1 does not tell its alarms: denied'],
    { unanswered: ['x:1 does not tell its alarms: denied'] },
  ],
  ['a certificate that ends in 30 days', 0, [], { certificates: [certificate(30)] }],
  [
    'a certificate that ends in 29 days',
    1,
    ['warning: the certificate of https://x:1 (CN=x) ends in 29 days'],
    { certificates: [certificate(29)] },
  ],
  [
    'a certificate that ends in 6 days',
    2,
    ['critical: the certificate of https://x:1 (CN=x) ends in 6 days'],
    { certificates: [certificate(6)] },
  ],
  [
    'a certificate that has ended',
    2,
    ['critical: the certificate of https://x:1 (CN=x) has ended'],
    { certificates: [certificate(0)] },
  ],
];

test.each(cases)('%s: exit code %i', (_what, code, texts, fields) => {
  const findings = findingsOf(reportOf(fields), NOW_MS);
  expect(findings.map(({ severity, what }) => `${severity}: ${what}`)).toEqual(
    texts.map((text) => expect.stringContaining(text)),
  );
  expect(findings.every(({ next }) => next.length > 10)).toBe(true);
  expect(exitCodeOf(findings)).toBe(code);
});

test('the worst comes first', () => {
  const members = [memberOf('a', { readMs: 200, dbSize: 9999, downgrade: '3.6' })];
  expect(findingsOf(reportOf({ members }), NOW_MS).map(({ severity }) => severity)).toEqual([
    'critical',
    'warning',
    'note',
  ]);
});

test('what a member says in its errors stays on the line of the finding', () => {
  const said = 'refused\nOK: nothing is wrong\u001b[2J';
  const reports = [
    reportOf({ unanswered: [said], strangers: [{ endpoint: 'x:1', problem: said }] }),
    reportOf({ members: [], unanswered: [said], strangers: [{ endpoint: 'x:1', problem: said }] }),
    reportOf({ members: [memberOf('a', { readProblem: said }), memberOf('b'), down('c', { problems: [said] })] }),
  ];
  const texts = reports.flatMap((report) => findingsOf(report, NOW_MS).map(({ what }) => what));
  expect(texts.filter((what) => what.includes('refused'))).toHaveLength(5);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: none of these may be in it
  for (const what of texts) expect(what).not.toMatch(/[\u0000-\u001f]/);
});
