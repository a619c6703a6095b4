import { FORMATS, type Format, type ToolJudge } from './judge.ts';
import { keysOnlyLease } from './differences.ts';

const type = (name: string): string => `etcdserverpb.${name}`;
const RANGE = type('RangeResponse');
/** More than a request may have, and more than the client sends. */
const TOO_LARGE = 'x'.repeat(1_600_000);
const MUCH_TOO_LARGE = 'x'.repeat(2_200_000);

/** put, get, del, txn, compaction, watch: on a store without users. */
export async function kvCalls(judge: ToolJudge): Promise<void> {
  await puts(judge);
  await gets(judge);
  await dels(judge);
  await txns(judge);
  await compactions(judge);
  await watches(judge);
  await judge.call(['snapshot', 'save', '$dir/kv.db']);
}

/** The revision of the last write. */
export async function revisionOf(judge: ToolJudge, flags: readonly string[] = []): Promise<number> {
  const { stdout } = await judge.call(['get', 'nobody'], { format: 'json', flags });
  return Number(/"revision":"?(\d+)/.exec(stdout)?.[1]);
}

async function puts(judge: ToolJudge): Promise<void> {
  await judge.formats(['put', 'foo', 'bar-$format'], type('PutResponse'));
  await judge.formats(['put', 'foo', 'x-$format', '--prev-kv'], type('PutResponse'));
  await judge.call(['put', 'foo', '--ignore-value']);
  await judge.call(['put', 'foo', 'bar', '--ignore-value']);
  await judge.call(['put', 'new', '--ignore-value']);
  await judge.call(['put', 'foo', 'z', '--ignore-lease']);
  await judge.call(['put', 'new', 'z', '--ignore-lease']);
  await judge.call(['put', 'foo'], { input: 'from the input\n' });
  await judge.call(['put', 'bytes'], { input: Uint8Array.of(0, 255, 10, 128) });
  await judge.call(['put', 'empty', '']);
  await judge.call(['put', '', 'x']);
  await judge.call(['put', 'foo', 'y', '--lease=7f']);
  await judge.call(['put', 'foo', 'y', '--lease=xyz']);
  await judge.call(['put']);
  await judge.call(['put', 'a', 'b', 'c']);
  await judge.call(['put', '--', '-key', '-value']);
  await judge.call(['put', 'large'], { input: TOO_LARGE });
  await judge.call(['put', 'large'], { input: MUCH_TOO_LARGE });
  for (const [key, value] of [
    ['a1', 'v3'],
    ['a2', 'v1'],
    ['a3', 'v2'],
    ['a1', 'v4'],
    ['b1', 'v0'],
  ] as const)
    await judge.call(['put', key, value]);
}

async function gets(judge: ToolJudge): Promise<void> {
  const get = (...args: readonly string[]) => judge.call(['get', ...args]);
  const inJson = (...args: readonly string[]) => judge.call(['get', ...args], { format: 'json' });
  await judge.formats(['get', 'foo'], RANGE);
  await judge.formats(['get', 'a', '--prefix'], RANGE);
  await judge.formats(['get', 'bytes'], RANGE, { flags: ['--hex'] });
  await judge.formats(['get', '', '--prefix', '--count-only'], RANGE);
  await judge.formats(['get', 'a', '--prefix', '--keys-only'], RANGE);
  await judge.formats(['get', 'a', '--prefix', '--stream'], RANGE);
  await judge.formats(['get', 'none'], RANGE);
  await get('foo', '--print-value-only');
  await judge.call(['get', 'foo', '--print-value-only'], { format: 'json' });
  await get('a', '--from-key', '--limit=2');
  await inJson('a', '--from-key', '--limit=2');
  await get('a1', 'a3');
  await get('a3', 'a1');
  for (const by of ['CREATE', 'KEY', 'MODIFY', 'VALUE', 'VERSION', 'SIZE'])
    for (const order of ['ASCEND', 'DESCEND']) await inJson('a', 'c', `--sort-by=${by}`, `--order=${order}`);
  await get('foo', '--order=SIDEWAYS');
  await get('foo', '--rev=3');
  await get('foo', '--rev=99999');
  await get('foo', '--rev=-1');
  await get('foo', '--rev=x');
  await get('foo', '--consistency=s');
  await get('foo', '--consistency=x');
  await inJson('', '--prefix', '--min-mod-rev=3', '--max-mod-rev=15', '--min-create-rev=2', '--max-create-rev=99');
  await get();
  await get('a', 'b', '--prefix');
  await get('a', '--prefix', '--from-key');
  await get('');
  await judge.call(['get', 'foo'], { flags: ['--write-out=yaml'] });
  await judge.call(['get', 'foo'], {
    flags: ['--endpoints=127.0.0.1:1', '--command-timeout=400ms', '--dial-timeout=400ms'],
  });
}

async function dels(judge: ToolJudge): Promise<void> {
  for (const format of FORMATS) await judge.call(['put', `del-${format}`, 'x']);
  await judge.formats(['del', 'del-$format', '--prev-kv'], type('DeleteRangeResponse'));
  for (const key of ['d1', 'd2', 'd3', 'd4']) await judge.call(['put', key, 'x']);
  await judge.call(['del', 'd1', 'd2']);
  await judge.call(['del', 'd1', 'd3', '--range']);
  await judge.call(['del', 'd3', '--prefix', '--prev-kv']);
  await judge.call(['put', 'zz', 'last']);
  await judge.call(['del', 'zz', '--from-key']);
  await judge.call(['del', 'none']);
  await judge.call(['del', '']);
  await judge.call(['del']);
  await judge.call(['del', 'a', 'b', '--prefix']);
}

async function txns(judge: ToolJudge): Promise<void> {
  const branches = 'put t1 "v"\nget foo\ndel b1\n\nget a1\nput t2 w\n\n';
  const TXN = type('TxnResponse');
  await judge.formats(['txn'], TXN, { input: `mod("foo") > "0"\n\n${branches}` });
  await judge.formats(['txn'], TXN, { input: `value("foo") = "other"\nversion("none") = "0"\n\n${branches}` });
  const inputs = [
    '\n\n\n',
    'create("a1") < "3"\nlease("a1") = "0"\nversion("a1") != "7"\n\nget a --prefix\n\n\n',
    'size("a1") = "3"\n\n\n\n',
    'mod("a1") = "x"\n\n\n\n',
    'mod("a1")\n\n\n\n',
    '\nput a b\nput a c\n\n\n',
    '\nput "" b\n\n\n',
    '\nmove a b\n\n\n',
    '\nget a --rev=99999\n\n\n',
    `\n${Array.from({ length: 129 }, (_, at) => `put k${at} v\n`).join('')}\n\n`,
    '',
  ];
  for (const input of inputs) await judge.call(['txn'], { input });
  await judge.call(['txn', '--interactive'], { input: `mod("foo") > "0"\n\n${branches}` });
  await judge.call(['txn', 'more'], { input: '\n\n\n' });
}

async function compactions(judge: ToolJudge): Promise<void> {
  for (const [at, format] of FORMATS.entries()) await judge.call(['compaction', `${2 + at}`], { format });
  await judge.call(['compaction', '2']);
  await judge.call(['compaction', '99999']);
  await judge.call(['compaction', '8', '--physical']);
  await judge.call(['compaction', '0']);
  await judge.call(['compaction', 'x']);
  await judge.call(['compaction']);
  await judge.call(['get', 'foo', '--rev=4']);
}

/** What a format shows when it has shown one event. */
const SHOWN: Readonly<Record<Format, RegExp>> = {
  simple: /PUT\nw-simple\nseen\n/,
  json: /"Canceled":/,
  fields: /"Value" : "seen"\n"Lease" : 0\n/,
  table: /not supported/,
  protobuf: /seen/,
};

async function watches(judge: ToolJudge): Promise<void> {
  for (const format of FORMATS) {
    const from = (await revisionOf(judge)) + 1;
    const message = format === 'protobuf' ? type('WatchResponse') : undefined;
    const watch = judge.start(['watch', `w-${format}`, `--rev=${from}`], { format, message });
    await judge.call(['put', `w-${format}`, 'seen']);
    await watch.until(SHOWN[format]);
    await watch.ended('SIGINT');
  }
  const from = (await revisionOf(judge)) + 1;
  for (const args of [
    ['put', 'p1', 'a'],
    ['put', 'p1', 'b'],
    ['del', 'p1'],
    ['put', 'p2', 'end'],
  ])
    await judge.call(args);
  const watch = async (args: readonly string[], end: RegExp): Promise<void> => {
    const watching = judge.start(['watch', ...args]);
    await watching.until(end);
    await watching.ended('SIGINT');
  };
  const untilItEnds = (...args: readonly string[]) => judge.start(['watch', ...args]).ended();
  await watch(['p', '--prefix', `--rev=${from}`, '--prev-kv'], /end/);
  await watch(['p1', 'p3', `--rev=${from}`], /end/);
  await watch(
    ['p2', `--rev=${from}`, '--', 'sh', '-c', 'echo $ETCD_WATCH_KEY $ETCD_WATCH_VALUE $ETCD_WATCH_EVENT_TYPE'],
    /"PUT"/,
  );
  await untilItEnds('p2', `--rev=${from}`, '--', 'false');
  await untilItEnds('foo', '--rev=2');
  await watch(['p', '--progress-notify'], /progress notify/);
  await judge.call(['watch']);
  await judge.call(['watch', 'a', 'b', '--prefix']);
  const typed = judge.start(['watch', '--interactive']);
  typed.write('look p1\n\nwatch\n');
  await typed.until(/command type or key/);
  typed.write(`watch --rev=${from} p2\n`);
  await typed.until(/end\n/);
  typed.write('progress\n');
  await typed.until(/progress notify/);
  await typed.ended('SIGINT');
}

/** A lease's id in the listing of keys. Runs where there is a lease with a key. */
export async function keysOfLease(judge: ToolJudge): Promise<void> {
  await judge.call(['get', 'leased', '--keys-only'], { format: 'json', differs: keysOnlyLease });
}
