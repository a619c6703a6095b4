import { setTimeout as sleep } from 'node:timers/promises';
import { FORMATS, type ToolJudge } from './judge.ts';
import { withoutHash } from './maintenance-calls.ts';
import type { Shown } from './side.ts';

/** etcd lets the membership change when the members have been connected for five seconds. */
const CONNECTED_MS = 6_000;
const PROMOTE_MAX_MS = 30_000;
const POLL_MS = 200;
const type = (name: string): string => `etcdserverpb.${name}`;
const ALL = ['--endpoints=$endpoint,$firstendpoint,$secondendpoint'];
const FOLLOWER = ['--endpoints=$firstendpoint'];

/** Members are listed by their ids, which are at random: what is said of them is compared in any order. */
const inAnyOrder = (shown: Shown): Shown => ({
  ...shown,
  stdout: withoutHash(shown)
    .stdout.replaceAll(/\$(?:leader|first|second)(?:10)?\b/g, 'member')
    .replaceAll(/\$(?:leader|first|second)?(endpoint|peer|name)\b/g, '$1')
    .replaceAll(/[[\]{}"]/g, '')
    .replaceAll(/(members:|ETCD_INITIAL_CLUSTER=)/g, '$1,')
    .split(/[\n,]/)
    .toSorted()
    .join('\n'),
});

/** endpoint, member, move-leader: on clusters of three. */
export async function clusterCalls(judge: ToolJudge): Promise<void> {
  const connected = sleep(CONNECTED_MS);
  const settle = inAnyOrder;
  await judge.call(['put', 'foo', 'bar'], { flags: FOLLOWER });
  await judge.formats(['member', 'list'], type('MemberListResponse'), { flags: FOLLOWER, settle });
  for (const what of ['status', 'health', 'hashkv']) {
    for (const format of ['simple', 'json', 'fields', 'table'] as const)
      await judge.call(['endpoint', what, '--cluster'], { format, settle });
    await judge.call(['endpoint', what], { flags: ALL, settle });
  }
  await judge.call(['defrag', '--cluster'], { settle });
  await judge.call(['member', 'remove', '7f'], { flags: FOLLOWER });
  await judge.call(['member', 'promote', '$first']);

  const places = await Promise.all(judge.sides.map((side) => side.placeLearner()));
  await connected;
  await judge.call(['member', 'add', 'more', '--peer-urls=http://$firstpeer']);
  const peer = '--peer-urls=http://$learnerpeer';
  await judge.call(['member', 'add', 'learner', '--learner', peer], {
    settle,
    id: ['learner', /Member +([0-9a-f]+) added/],
  });
  await judge.call(['member', 'add', 'other', '--learner', '--peer-urls=http://127.0.0.1:1']);
  for (const format of FORMATS)
    await judge.call(['member', 'update', '$learner', peer], {
      format,
      message: format === 'protobuf' ? type('MemberUpdateResponse') : undefined,
      settle,
    });
  await judge.call(['member', 'promote', '$learner']);
  await judge.call(['member', 'list'], { settle });
  for (const [at, side] of judge.sides.entries()) side.startLearner(places[at]!);
  for (const side of [0, 1] as const) await promoted(judge, side);
  await judge.call(['member', 'promote', '$learner']);
  await judge.call(['member', 'list'], { settle });
  await judge.call(['member', 'remove', '$learner'], { settle });
  await judge.call(['member', 'remove', '$learner'], { settle });

  await judge.call(['move-leader', '$first'], { flags: FOLLOWER });
  await judge.call(['move-leader', '7f']);
  await judge.call(['move-leader', '$first'], { flags: ALL });
  await Promise.all(judge.sides.map((side) => side.untilLeads(side.filled('$firstendpoint'))));
  await judge.call(['endpoint', 'status'], { flags: FOLLOWER });
  await judge.call(['put', 'foo', 'behind']);
  await judge.formats(['get', 'foo'], type('RangeResponse'), { flags: FOLLOWER });
}

/** Repeats the promotion on one of them until the learner has caught up, and waits until it has told its name. */
async function promoted(judge: ToolJudge, side: 0 | 1): Promise<void> {
  const waited = AbortSignal.timeout(PROMOTE_MAX_MS);
  for (;;) {
    try {
      await judge.aside(side, ['member', 'promote', '$learner']);
      break;
    } catch (error) {
      if (!String(error).includes('in sync with leader')) throw error;
      await sleep(POLL_MS, undefined, { signal: waited });
    }
  }
  while (!(await judge.aside(side, ['member', 'list'])).includes(', started, learner,'))
    await sleep(POLL_MS, undefined, { signal: waited });
}
