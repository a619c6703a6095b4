import type { Shown } from './side.ts';
import type { ToolJudge } from './judge.ts';
import { revisionOf } from './kv-calls.ts';

/** check, completion, help, make-mirror, options, version: on a store without users. */
export async function utilityCalls(judge: ToolJudge): Promise<void> {
  for (const args of [['help'], ['help', 'lease'], ['options'], ['version'], ['completion', 'bash']])
    await judge.call(args);
  for (const args of [
    ['help', '--more'],
    ['options', '--more'],
    ['version', '--more'],
    ['completion', 'csh'],
    ['completion'],
  ])
    await judge.call(args);
  await mirrors(judge);
  await checks(judge);
}

async function mirrors(judge: ToolJudge): Promise<void> {
  const from = (await revisionOf(judge)) + 1;
  await judge.call(['put', 'mirrored/a', 'before']);
  const mirroring = judge.start([
    'make-mirror',
    '--prefix=mirrored/',
    '--dest-prefix=mirror/',
    '--dest-insecure-transport=true',
    '--max-txn-ops=7',
    '$endpoint',
  ]);
  const seen = judge.start(['watch', 'mirror/', '--prefix', `--rev=${from}`]);
  await seen.until(/before/);
  await judge.call(['put', 'mirrored/b', 'behind']);
  await seen.until(/behind/);
  await judge.call(['del', 'mirrored/b']);
  await seen.until(/DELETE/);
  await seen.ended('SIGINT');
  await mirroring.ended('SIGINT');
  await judge.call(['get', 'mirror/', '--prefix']);
  await judge.call(['make-mirror']);
  await judge.call(['make-mirror', '$endpoint', '--no-dest-prefix', '--dest-prefix=x']);
}

/** How fast and how large a store is, is not compared: only that the check gets through. */
const withoutFigures = (shown: Shown): Shown => ({
  end: shown.end === 1 ? 0 : shown.end,
  stdout: shown.stdout
    .replace(/^.*\r/gm, '')
    .replace(/^(?:PASS|FAIL)(?:: )?/gm, '')
    .replace(/Throughput (?:is|too low:) \d+/g, 'throughput N')
    .replace(/(Slowest request|Stddev) .*/g, '$1')
    .replace(/memory.*/g, 'memory')
    .replace(/revision \d+/g, 'revision N'),
  // The bar of its progress.
  stderr: '',
});

async function checks(judge: ToolJudge): Promise<void> {
  for (const what of ['perf', 'datascale']) {
    await judge.call(['check', what, '--load=huge']);
    await judge.call(['check', what, '--prefix=foo']);
  }
  const from = (await revisionOf(judge)) + 1;
  // It takes a minute unless it is interrupted, and then cleans up as well.
  const running = judge.start(['check', 'perf', '--load=s', '--prefix=perf/', '--auto-compact', '--auto-defrag'], {
    settle: withoutFigures,
  });
  const written = judge.start(['watch', 'perf/', '--prefix', `--rev=${from}`]);
  await written.until(/PUT/);
  await written.dropped();
  await running.ended('SIGINT');
  await judge.call(['get', 'perf/', '--prefix', '--count-only'], { format: 'fields', settle: withoutRevision });
  await judge.call(['check', 'datascale', '--load=s', '--prefix=scale/', '--auto-compact', '--auto-defrag'], {
    settle: withoutFigures,
  });
  await judge.call(['get', 'scale/', '--prefix', '--count-only'], { format: 'fields', settle: withoutRevision });
}

/** The stores have taken different numbers of writes by then. */
const withoutRevision = (shown: Shown): Shown => ({ ...shown, stdout: shown.stdout.replace(/"Revision" : \d+/, '') });
