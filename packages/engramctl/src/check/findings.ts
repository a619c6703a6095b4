import { counted, millisecondsText, shownText, sizeText } from '../print/shown.ts';
import { type ClusterReport, lagOf, leaderOf, type MemberReport, revisionOf } from './cluster-report.ts';

/** `critical`: requests fail, or will soon, or data is at risk. `warning`: it serves, and something is to be mended. */
export type Severity = 'critical' | 'warning' | 'note';

export interface Finding {
  readonly severity: Severity;
  readonly what: string;
  /** What to do. */
  readonly next: string;
}

/** etcd refuses writes at such a distance between what is committed and what is applied (v3_server.go: maxGapBetween...). */
const LAG_MAX = 5_000;
const READ_SLOW_MS = 100;
const QUOTA_WARNING = 0.8;
const QUOTA_CRITICAL = 0.95;
const DAY_MS = 86_400_000;
const ENDS_SOON_DAYS = 30;
const ENDS_NOW_DAYS = 7;

/** The exit code of a check: 0 if nothing is wrong, 1 for warnings, 2 if anything is critical. */
export function exitCodeOf(findings: readonly Finding[]): number {
  if (findings.some(({ severity }) => severity === 'critical')) return 2;
  return findings.some(({ severity }) => severity === 'warning') ? 1 : 0;
}

/** What is wrong with a cluster and what to do, the worst first. Pure. */
export function findingsOf(report: ClusterReport, nowMs: number): readonly Finding[] {
  const found = [
    ...reached(report),
    ...agreement(report),
    ...alarms(report),
    ...report.members.flatMap((member) => [...ofMember(report, member)]),
    ...certificates(report, nowMs),
  ];
  const order: readonly Severity[] = ['critical', 'warning', 'note'];
  return found.toSorted((left, right) => order.indexOf(left.severity) - order.indexOf(right.severity));
}

const nameOf = ({ name, id }: MemberReport): string =>
  name === '' ? `member ${id}` : `member ${shownText(name)} (${id})`;

function* reached({ members, strangers, unanswered }: ClusterReport): Generator<Finding> {
  const answering = members.filter(({ answer }) => answer !== undefined);
  if (answering.length === 0) {
    const why = [...strangers.map(({ endpoint, problem }) => `${endpoint}: ${problem}`), ...unanswered]
      .map((each) => shownText(each))
      .join('; ');
    yield {
      severity: 'critical',
      what: `no member answers: ${why}`,
      next: 'check --endpoints and the TLS flags, then whether the members run and their ports can be reached from here',
    };
    return;
  }
  for (const { endpoint, problem } of strangers) {
    yield {
      severity: 'warning',
      what: shownText(`${endpoint}: ${problem}`),
      next: 'take it out of --endpoints, or start what should answer there',
    };
  }
  for (const what of unanswered) {
    yield {
      severity: 'critical',
      what: shownText(what),
      next: 'give the rights for it (--user), or look at the logs of the member',
    };
  }
  const voters = members.filter(({ isLearner }) => !isLearner);
  const quorum = Math.floor(voters.length / 2) + 1;
  const up = voters.filter(({ answer }) => answer !== undefined).length;
  if (up < quorum) {
    yield {
      severity: 'critical',
      what: `${counted(up, 'voting member')} of ${voters.length} can be reached from here, and a quorum is ${quorum}`,
      next: 'start the others, or repair the network to them: without a quorum nothing can be written',
    };
  } else if (up === quorum && up < voters.length) {
    yield {
      severity: 'warning',
      what: `${up} of ${voters.length} voting members can be reached, just a quorum: the next loss stops all writes`,
      next: 'start the members that are missing, or replace them (etcdctl member remove, member add)',
    };
  }
}

function* agreement(report: ClusterReport): Generator<Finding> {
  const answers = report.members.flatMap(({ answer }) => (answer === undefined ? [] : [answer]));
  if (answers.length === 0) return;
  if (report.clusterIds.length > 1) {
    yield {
      severity: 'critical',
      what: `the endpoints belong to different clusters: ${report.clusterIds.join(', ')}`,
      next: 'give the endpoints of one cluster; if they should be one, look at how the odd member was founded before anything writes to it',
    };
  }
  if (answers.every(({ leader }) => leader === '0')) {
    yield {
      severity: 'critical',
      what: 'no member knows a leader',
      next: 'wait for an election (seconds), then look at the logs of the members: is there a quorum, and do they reach each other and their storage?',
    };
  } else if (leaderOf(report) === undefined) {
    const said = new Set(answers.map(({ endpoint, leader }) => `${endpoint} says ${leader}`));
    yield {
      severity: 'critical',
      what: `the members do not name the same leader: ${[...said].join(', ')}`,
      next: 'check again: during an election that is normal. If it stays, the network between the members is divided',
    };
  }
  const versions = new Set(answers.map(({ version }) => version));
  if (versions.size > 1) {
    yield {
      severity: 'warning',
      what: `the members have different versions: ${[...versions]
        .map((each) => shownText(each))
        .toSorted()
        .join(', ')}`,
      next: 'finish the upgrade: a cluster serves what its oldest member knows',
    };
  }
  const downgrade = answers.find((answer) => answer.downgrade !== '')?.downgrade;
  if (downgrade !== undefined) {
    yield {
      severity: 'note',
      what: `a downgrade to ${shownText(downgrade)} is under way`,
      next: 'finish it, or end it with etcdctl downgrade cancel',
    };
  }
}

function* alarms({ alarms: raised }: ClusterReport): Generator<Finding> {
  for (const { memberId, alarm } of raised) {
    if (alarm === 'NOSPACE') {
      yield {
        severity: 'critical',
        what: `alarm NOSPACE of member ${memberId}: the quota of the database is reached, and nothing but deletions is taken`,
        next: 'compact (etcdctl compact REVISION), defragment (etcdctl defrag), and when there is room: etcdctl alarm disarm; or raise --quota-backend-bytes',
      };
    } else if (alarm === 'CORRUPT') {
      yield {
        severity: 'critical',
        what: `alarm CORRUPT of member ${memberId}: its data differs from that of the others`,
        next: 'stop that member, keep its data directory, and replace it (etcdctl member remove, member add); take a snapshot of a healthy member first',
      };
    } else {
      yield {
        severity: 'critical',
        what: `an alarm of an unknown kind, of member ${memberId}`,
        next: 'use a newer engramctl',
      };
    }
  }
}

function* ofMember(report: ClusterReport, member: MemberReport): Generator<Finding> {
  const name = nameOf(member);
  const { answer } = member;
  if (answer === undefined) {
    const neverStarted = member.name === '' && member.clientUrls.length === 0;
    if (report.members.every((each) => each.answer === undefined)) return;
    yield {
      severity: 'warning',
      what: neverStarted
        ? `${name} has never started`
        : `${name} does not answer: ${member.problems.map((each) => shownText(each)).join('; ')}`,
      next: neverStarted
        ? `start it with --initial-cluster-state=existing, or take it out: etcdctl member remove ${member.id}`
        : 'look whether it runs, and whether its client URLs can be reached from here',
    };
    return;
  }
  if (member.isLearner) {
    yield {
      severity: 'note',
      what: `${name} is a learner: it does not vote`,
      next: `when it has caught up: etcdctl member promote ${member.id}`,
    };
  }
  if (answer.readProblem !== undefined && !member.isLearner) {
    yield {
      severity: 'critical',
      what: `${name} does not serve linearizable reads: ${shownText(answer.readProblem)}`,
      next: 'is there a leader, and does this member reach it? Its log says what it waits for',
    };
  }
  if (answer.readMs !== undefined && answer.readMs > READ_SLOW_MS) {
    yield {
      severity: 'warning',
      what: `${name} takes ${millisecondsText(answer.readMs)} for a linearizable read, with a round trip of ${millisecondsText(answer.roundTripMs)}`,
      next: 'look at the load and the CPU of this member and of the leader, and at the network between them',
    };
  }
  const lag = lagOf(report, answer);
  const behind = Math.max(lag, revisionOf(report) - answer.revision);
  if (behind > LAG_MAX) {
    yield {
      severity: 'warning',
      what: `${name} is ${behind} entries of the log behind`,
      next: 'check again: if the number does not fall, look at its CPU, its disk and its network',
    };
  }
  yield* room(name, answer.dbSize, answer.dbSizeQuota);
  for (const error of answer.errors.filter((text) => !/alarm:/.test(text))) {
    yield { severity: 'critical', what: `${name} reports: ${shownText(error)}`, next: 'look at its log' };
  }
}

function* room(name: string, dbSize: number, quota: number): Generator<Finding> {
  if (quota <= 0) return;
  const share = dbSize / quota;
  if (share < QUOTA_WARNING) return;
  yield {
    severity: share < QUOTA_CRITICAL ? 'warning' : 'critical',
    what: `${name} has ${sizeText(dbSize)} of its quota of ${sizeText(quota)} (${Math.floor(share * 100)} %)`,
    next: 'compact and defragment, see what takes the room (engramctl inspect), or raise --quota-backend-bytes: at 100 % writes are refused',
  };
}

function* certificates({ certificates: known }: ClusterReport, nowMs: number): Generator<Finding> {
  for (const { of, subject, endsAt, endsAtMs } of known) {
    const days = Math.floor((endsAtMs - nowMs) / DAY_MS);
    const whose = `the certificate of ${of} (${shownText(subject)})`;
    if (endsAtMs <= nowMs) {
      yield {
        severity: 'critical',
        what: `${whose} has ended at ${endsAt}`,
        next: 'replace it now: whoever verifies it refuses it',
      };
    } else if (days < ENDS_SOON_DAYS) {
      yield {
        severity: days < ENDS_NOW_DAYS ? 'critical' : 'warning',
        what: `${whose} ends in ${counted(days, 'day')}, at ${endsAt}`,
        next: 'replace its file before that: the next connections use it',
      };
    }
  }
}
