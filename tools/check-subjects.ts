/**
 * Checks the subjects of commits. Prints each that breaks the rule, and ends with 1 if there is one.
 *
 *   tools/with-node node tools/check-subjects.ts <base> [<head>]     those since a base; ends with 2 if git does not know the base
 *   tools/with-node node tools/check-subjects.ts --newest=<n>        the newest ones that this clone has: of those that are younger
 *                                                                    than the check itself
 */
import { execFileSync } from 'node:child_process';
import { CHECKED_SINCE, subjectFault } from './subject-check.ts';

const usage = 'usage: check-subjects.ts <base> [<head>] | --newest=<n>';
const [first, head = 'HEAD'] = process.argv.slice(2);
const newest = /^--newest=([1-9]\d{0,3})$/.exec(first ?? '')?.[1];
if (first === undefined || (first.startsWith('-') && newest === undefined) || head.startsWith('-')) {
  console.error(usage);
  process.exit(2);
}
const which =
  newest === undefined ? [`${first}..${head}`] : [`--max-count=${newest}`, `--since=${CHECKED_SINCE}`, 'HEAD'];
let commits: readonly string[] = [];
try {
  const text = execFileSync('git', ['log', '--no-merges', '--format=%h %s', ...which], { encoding: 'utf8' });
  commits = text.split('\n').filter((line) => line !== '');
} catch {
  // git has said why
  if (newest === undefined) process.exit(2);
  console.log('here are no commits whose subjects could be checked');
}
let wrong = 0;
for (const commit of commits) {
  const subject = commit.slice(commit.indexOf(' ') + 1);
  const fault = subjectFault(subject);
  if (fault === undefined) continue;
  wrong += 1;
  console.log(`${commit}\n  ${fault}`);
}
console.log(`${commits.length - wrong} subjects are right, ${wrong} wrong`);
process.exit(wrong === 0 ? 0 : 1);
