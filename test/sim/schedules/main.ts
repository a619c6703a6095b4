// `make schedules`: plays every small game in every order of its requests to the stores. PREEMPTIONS=n: with so many at most (3).
// SCHEDULES=n: at most so many of each game (all). GAME=text: only the games whose names have it.
import { explore } from './explore.ts';
import { games } from './games.ts';

const { PREEMPTIONS = '3', SCHEDULES, GAME = '' } = process.env;
const schedulesMax = SCHEDULES === undefined ? Number.POSITIVE_INFINITY : Number(SCHEDULES);
let failed = 0;
let all = 0;
const chosen = games.filter(({ name }) => name.includes(GAME));
for (const game of chosen) {
  const startMs = performance.now();
  const { schedules, whole, requestsMax, finding } = await explore(game, Number(PREEMPTIONS), schedulesMax);
  const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
  all += schedules;
  const all_ = whole ? 'all' : finding === undefined ? 'the first' : 'found in';
  console.log(
    `${game.name}: ${all_} ${schedules} schedules with at most ${PREEMPTIONS} preemptions, up to ${requestsMax} requests, ${seconds} s`,
  );
  if (finding === undefined) continue;
  failed += 1;
  console.log(`  schedule ${finding.schedule}: ${String(finding.error)}`);
  for (let cause = finding.error; cause instanceof Error; cause = cause.cause) console.log(cause.stack);
}
console.log(`${all} schedules`);
console.log(`e2e-schedules: ${chosen.length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
