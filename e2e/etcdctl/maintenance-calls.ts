import { downgradeEnable, hashOfCompacted, memberAdded, memberUpdated } from './differences.ts';
import type { ToolJudge } from './judge.ts';
import type { Shown } from './side.ts';

const type = (name: string): string => `etcdserverpb.${name}`;
const UNREACHABLE = ['--endpoints=127.0.0.1:1', '--command-timeout=400ms', '--dial-timeout=400ms'];

/** alarm, defrag, downgrade, endpoint, member, move-leader, snapshot: on a store without users. */
export async function maintenanceCalls(judge: ToolJudge): Promise<void> {
  await endpoints(judge);
  await members(judge);
  await alarms(judge);
  await downgrades(judge);
  await judge.call(['defrag']);
  await judge.call(['defrag', '--cluster']);
  await judge.call(['defrag'], { flags: UNREACHABLE });
  await judge.call(['snapshot', 'save', '$dir/saved.db']);
  await judge.call(['snapshot', 'save', '$dir/nowhere/saved.db']);
  await judge.call(['snapshot', 'save']);
  await judge.call(['snapshot', 'save', '$dir/none.db'], { flags: UNREACHABLE });
  await judge.formats(['move-leader', '$member'], type('MoveLeaderResponse'));
  await judge.call(['move-leader', '7f']);
  await judge.call(['move-leader', 'xyz']);
  await judge.call(['move-leader']);
}

/**
 * The store hashes what lives at a revision, so that the hash is the same before and after a compaction; etcd what it has of the
 * history. Snapshots of the two have the same hash by etcdutl: file-calls.
 */
export const withoutHash = (shown: Shown): Shown => ({
  ...shown,
  stdout: shown.stdout.replace(/(endpoint, )\d+/g, '$1HASH').replace(/("hash":|"Hash" : )\d+/g, '$1HASH'),
});

async function endpoints(judge: ToolJudge): Promise<void> {
  await judge.formats(['endpoint', 'status'], type('StatusResponse'));
  await judge.formats(['endpoint', 'health'], type('StatusResponse'));
  const settle = withoutHash;
  await judge.formats(['endpoint', 'hashkv'], type('HashKVResponse'), { settle });
  for (const what of ['status', 'health', 'hashkv']) {
    await judge.call(['endpoint', what, '--cluster'], { settle });
    await judge.call(['endpoint', what], { flags: UNREACHABLE });
    const flags = ['--endpoints=$endpoint,127.0.0.1:1', ...UNREACHABLE.slice(1)];
    await judge.call(['endpoint', what], { flags, settle });
  }
  await judge.call(['endpoint', 'hashkv', '--rev=12'], { format: 'json', settle });
  await judge.call(['endpoint', 'hashkv', '--rev=2'], { settle, differs: hashOfCompacted });
  await judge.call(['endpoint', 'hashkv', '--rev=99999']);
}

async function members(judge: ToolJudge): Promise<void> {
  await judge.formats(['member', 'list'], type('MemberListResponse'));
  await judge.call(['member', 'list'], { format: 'json', flags: ['--hex'] });
  await judge.call(['member', 'list', '--consistency=s']);
  await judge.call(['member', 'list', '--consistency=x']);
  await judge.call(['member', 'add', 'other', '--peer-urls=http://$peer']);
  await judge.call(['member', 'add', 'other', '--peer-urls=nowhere']);
  await judge.call(['member', 'add', 'other', 'http://127.0.0.1:1']);
  await judge.call(['member', 'add', 'other']);
  await judge.call(['member', 'add']);
  for (const what of ['promote', 'remove']) {
    await judge.call(['member', what, '7f']);
    await judge.call(['member', what, 'xyz']);
    await judge.call(['member', what]);
    await judge.call(['member', what, '$member']);
  }
  await judge.call(['member', 'update', '7f', '--peer-urls=http://127.0.0.1:1']);
  await judge.call(['member', 'update', 'xyz', '--peer-urls=http://127.0.0.1:1']);
  await judge.call(['member', 'update', '$member']);
  await judge.call(['member', 'update']);
  await judge.call(['member', 'update', '$member', '--peer-urls=http://$peer'], { differs: memberUpdated });
  await judge.call(['member', 'add', 'other', '--learner', '--peer-urls=http://127.0.0.1:1'], {
    differs: memberAdded,
    id: ['learner', /Member +([0-9a-f]+) added/],
  });
  await judge.aside(0, ['member', 'remove', '$learner']);
}

async function alarms(judge: ToolJudge): Promise<void> {
  await judge.formats(['alarm', 'list'], type('AlarmResponse'));
  for (const side of judge.sides) await side.raiseAlarm('NOSPACE');
  await judge.formats(['alarm', 'list'], type('AlarmResponse'));
  await judge.call(['alarm', 'list'], { flags: ['--hex'], format: 'fields' });
  await judge.call(['put', 'foo', 'refused']);
  await judge.call(['get', 'foo']);
  await judge.formats(['endpoint', 'status'], type('StatusResponse'));
  await judge.formats(['endpoint', 'health'], type('StatusResponse'));
  await judge.formats(['alarm', 'disarm'], type('AlarmResponse'));
  await judge.call(['put', 'foo', 'taken']);
  for (const what of ['list', 'disarm']) {
    await judge.call(['alarm', what, 'more']);
    await judge.call(['alarm', what], { flags: UNREACHABLE });
  }
}

async function downgrades(judge: ToolJudge): Promise<void> {
  for (const what of ['validate', 'enable']) {
    for (const target of ['3.5', '3.7', '3.8', '4.0', '3', 'x', '3.6.0.1', ''])
      await judge.call(['downgrade', what, target]);
    await judge.call(['downgrade', what]);
    await judge.call(['downgrade', what, '3.6', 'more']);
  }
  await judge.formats(['downgrade', 'validate', '3.6'], type('DowngradeResponse'));
  await judge.call(['downgrade', 'validate', '3.6.0']);
  await judge.formats(['downgrade', 'cancel'], type('DowngradeResponse'));
  await judge.call(['downgrade', 'cancel'], { flags: UNREACHABLE });
}

/** Runs last: an etcd that has begun a downgrade is of the older version for a while, also when that is canceled. */
export async function lastCalls(judge: ToolJudge): Promise<void> {
  await judge.call(['downgrade', 'enable', '3.6'], { differs: downgradeEnable });
  await judge.aside(0, ['downgrade', 'cancel']);
}
