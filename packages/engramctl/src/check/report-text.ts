import { millisecondsText, shownText, sizeText } from '../print/shown.ts';
import { tableText } from '../print/table.ts';
import { type ClusterReport, lagOf, leaderOf, type MemberReport, revisionOf } from './cluster-report.ts';
import { exitCodeOf, type Finding } from './findings.ts';

const SUMMARY = ['OK: nothing is wrong', 'WARNING: it serves, and something is to be mended', 'CRITICAL'] as const;

const roleOf = (report: ClusterReport, { id, isLearner }: MemberReport): string => {
  if (isLearner) return 'learner';
  return leaderOf(report) === id ? 'leader' : 'follower';
};

const usage = (used: number, quota: number): string => (quota <= 0 ? '' : `${Math.floor((used / quota) * 100)} %`);

/** A report for people: lines, with `table` the members in a table. */
export function reportText(
  report: ClusterReport,
  findings: readonly Finding[],
  form: 'simple' | 'table',
  nowMs: number,
): string {
  const { clusterIds, members, alarms, certificates } = report;
  const leader = leaderOf(report);
  const answering = members.filter(({ answer }) => answer !== undefined).length;
  const head = `cluster ${clusterIds.join(', ') || 'unknown'}: ${answering} of ${members.length} members answer, leader ${leader ?? 'unknown'}, revision ${revisionOf(report)}\n`;
  const raised =
    alarms.length === 0 ? 'none' : alarms.map(({ memberId, alarm }) => `${alarm} of ${memberId}`).join(', ');
  return [
    head,
    ...(members.length === 0
      ? []
      : form === 'table'
        ? [membersTable(report)]
        : members.map((member) => memberLine(report, member))),
    `alarms: ${raised}\n`,
    ...certificates.map(
      ({ of, subject, endsAt, endsAtMs }) =>
        `certificate of ${of}: ${shownText(subject)}, ends ${endsAt.slice(0, 10)} (${Math.floor((endsAtMs - nowMs) / 86_400_000)} days)\n`,
    ),
    `${SUMMARY[exitCodeOf(findings)]}\n`,
    ...findings.map(({ severity, what, next }) => `${severity}: ${what}\n  next: ${next}\n`),
  ].join('');
}

function memberLine(report: ClusterReport, member: MemberReport): string {
  const { id, name, answer } = member;
  const who = `${name === '' ? '(unnamed)' : shownText(name)} ${id}`;
  if (answer === undefined) return `member ${who}: no answer\n`;
  const { endpoint, version, dbSize, dbSizeInUse, dbSizeQuota, roundTripMs, readMs, raftTerm } = answer;
  const share = usage(dbSize, dbSizeQuota);
  return [
    `member ${who}: ${roleOf(report, member)} at ${endpoint}, version ${shownText(version)}, term ${raftTerm}, lag ${lagOf(report, answer)}`,
    `  database ${sizeText(dbSize)}, ${sizeText(dbSizeInUse)} in use${share === '' ? '' : `, ${share} of the quota of ${sizeText(dbSizeQuota)}`}`,
    `  round trip ${millisecondsText(roundTripMs)}, linearizable read ${readMs === undefined ? 'failed' : millisecondsText(readMs)}`,
    '',
  ].join('\n');
}

function membersTable(report: ClusterReport): string {
  const heads = [
    'ENDPOINT',
    'ID',
    'NAME',
    'VERSION',
    'STORAGE VERSION',
    'ROLE',
    'RAFT TERM',
    'RAFT APPLIED INDEX',
    'LAG',
    'REVISION',
    'DB SIZE',
    'IN USE',
    'QUOTA',
    'OF QUOTA',
    'ROUND TRIP',
    'READ',
  ] as const;
  const rows = report.members.map((member): readonly string[] => {
    const { id, name, clientUrls, answer } = member;
    if (answer === undefined) return [clientUrls[0] ?? '', id, shownText(name), 'no answer'];
    return [
      answer.endpoint,
      id,
      shownText(name),
      shownText(answer.version),
      shownText(answer.storageVersion),
      roleOf(report, member),
      String(answer.raftTerm),
      String(answer.raftAppliedIndex),
      String(lagOf(report, answer)),
      String(answer.revision),
      sizeText(answer.dbSize),
      sizeText(answer.dbSizeInUse),
      sizeText(answer.dbSizeQuota),
      usage(answer.dbSize, answer.dbSizeQuota),
      millisecondsText(answer.roundTripMs),
      answer.readMs === undefined ? 'failed' : millisecondsText(answer.readMs),
    ];
  });
  return tableText(heads, rows);
}
