import type { Command, CommandRun } from '../cli/command.ts';
import { connectionsOf } from '../client/connections.ts';
import { jsonLine } from '../print/json.ts';
import { askCluster } from './ask-cluster.ts';
import { type ClusterReport, lagOf, leaderOf, revisionOf } from './cluster-report.ts';
import { exitCodeOf, type Finding, findingsOf } from './findings.ts';
import { reportText } from './report-text.ts';

export const checkCommand: Command = {
  name: 'check',
  arguments: '[flags]',
  group: 'cluster',
  short: 'Reports on a live cluster: what is wrong, and what to do next',
  long: `Asks the endpoints of --endpoints, and every member that they list: members, versions, leader, lag, round trips,
storage, alarms, and when certificates end. Changes nothing.

Exit code 0: nothing is wrong. 1: it serves, and something is to be mended. 2: requests fail or will soon, or nothing answers.`,
  flags: [],
  args: { min: 0, max: 0 },
  run: check,
};

async function check(run: CommandRun): Promise<number> {
  const { form, printer, signal, nowMs } = run;
  const report = await askCluster(await connectionsOf(run), { nowMs: () => performance.now(), signal });
  const atMs = nowMs();
  const findings = findingsOf(report, atMs);
  await printer.out(form === 'json' ? jsonLine(jsonOf(report, findings)) : reportText(report, findings, form, atMs));
  return exitCodeOf(findings);
}

const jsonOf = (report: ClusterReport, findings: readonly Finding[]): object => ({
  exitCode: exitCodeOf(findings),
  findings,
  leader: leaderOf(report) ?? '',
  revision: revisionOf(report),
  ...report,
  members: report.members.map((member) =>
    member.answer === undefined ? member : { ...member, lag: lagOf(report, member.answer) },
  ),
});
