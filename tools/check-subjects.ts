/**
 * Checks the subjects of the commits since a base: `tools/with-node node tools/check-subjects.ts <base> [<head>]`. Prints each
 * that breaks the rule, and ends with 1 if there is one, with 2 if git does not know the base.
 */
import { execFileSync } from 'node:child_process';
import { subjectFault } from './subject-check.ts';

const [base, head = 'HEAD'] = process.argv.slice(2);
if (base === undefined || base.startsWith('-') || head.startsWith('-')) {
  console.error('usage: check-subjects.ts <base> [<head>]');
  process.exit(2);
}
let commits: readonly string[] = [];
try {
  const text = execFileSync('git', ['log', '--no-merges', '--format=%h %s', `${base}..${head}`], { encoding: 'utf8' });
  commits = text.split('\n').filter((line) => line !== '');
} catch {
  process.exit(2); // git has said why
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
