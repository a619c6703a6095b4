import { isPoint, type KeyRange } from '@engram/core';
import type { mvccpb } from '@engram/wire';
import { badArguments } from '../cli/ctl-error.ts';
import type { Command, CommandRun } from '../cli/command.ts';
import { calls } from '../client/calls.ts';
import { connectionsOf, firstClient } from '../client/connections.ts';
import type { EtcdClient } from '../client/etcd-client.ts';
import { rangePages } from '../client/range-pages.ts';
import { shownBytes } from '../print/shown.ts';
import { type KeyChange, keyChanges } from './key-changes.ts';
import { currentRevision, explained, prefixFlag, rangeOf, revisionArgument, valuesFlag } from './revisions.ts';
import { type Row, RowPrinter } from './row-printer.ts';
import { valueDifferences } from './value-differences.ts';

const MARKS = { added: '+', removed: '-', changed: '~' } as const;
const HEADS = ['CHANGE', 'KEY', 'VERSION', 'CREATED', 'MODIFIED', 'DIFFERENCES'] as const;

export const diffCommand: Command = {
  name: 'diff',
  arguments: '[flags] KEY FROM [TO]',
  group: 'data',
  short: 'Shows what has changed of a key or a prefix between two revisions',
  long: `Compares a key, or with --prefix all keys that begin with it, at two revisions of the live store, both of which must not be
compacted. Without TO it is the newest revision. Of a single key the values are compared, too.`,
  flags: [prefixFlag, valuesFlag],
  args: { min: 2, max: 3 },
  run: diff,
};

async function diff(run: CommandRun): Promise<number> {
  const { flags, args, form, printer, signal } = run;
  const [key = '', fromText = '', toText] = args;
  const range = rangeOf(key, flags);
  const from = revisionArgument(fromText, 'FROM');
  const wanted = toText === undefined ? undefined : revisionArgument(toText, 'TO');
  if (wanted !== undefined && wanted < from) throw badArguments(`TO ${wanted} is before FROM ${from}`);
  using client = await firstClient(await connectionsOf(run), signal);
  const counts = { added: 0, removed: 0, changed: 0 };
  const rows = new RowPrinter(run, HEADS);
  let to = from;
  try {
    to = wanted ?? (await currentRevision(client, range, signal));
    const changes = keyChanges(pagesAt(client, range, from, signal), pagesAt(client, range, to, signal));
    for await (const change of changes) {
      counts[change.change] += 1;
      const differences = await differencesOf(client, run, range, change, { from, to });
      await rows.print(rowOf(change, differences, flags.bool('hex')));
    }
  } catch (error) {
    signal.throwIfAborted();
    throw await explained(client, range, error, signal);
  }
  await rows.end();
  if (form !== 'json') {
    await printer.out(
      `${counts.added} added, ${counts.removed} removed, ${counts.changed} changed between revisions ${from} and ${to}\n`,
    );
  }
  return 0;
}

async function* pagesAt(
  client: EtcdClient,
  range: KeyRange,
  revision: number,
  signal: AbortSignal,
): AsyncGenerator<readonly mvccpb.KeyValue[]> {
  for await (const { kvs } of rangePages(client, { range, revision, keysOnly: true }, signal)) yield kvs;
}

/** Values are read for one key at a time, where they are wanted. */
async function differencesOf(
  client: EtcdClient,
  { flags, signal }: CommandRun,
  range: KeyRange,
  change: KeyChange,
  at: { readonly from: number; readonly to: number },
): Promise<readonly string[]> {
  if (change.change !== 'changed' || !(isPoint(range) || flags.bool('values'))) return [];
  const { key } = change.from;
  const before = await client.unary(calls.range, { key, revision: at.from }, signal);
  const after = await client.unary(calls.range, { key, revision: at.to }, signal);
  const [left, right] = [before.kvs[0], after.kvs[0]];
  return left === undefined || right === undefined ? [] : valueDifferences(left.value, right.value);
}

function rowOf(change: KeyChange, differences: readonly string[], hex: boolean): Row {
  const from = 'from' in change ? change.from : undefined;
  const to = 'to' in change ? change.to : undefined;
  const { key } = (to ?? from)!;
  const name = shownBytes(key, hex);
  const pair = (read: (kv: mvccpb.KeyValue) => number): string =>
    [...new Set([from, to].filter((kv) => kv !== undefined).map((kv) => String(read(kv))))].join(' -> ');
  const [version, created, modified] = [
    pair((kv) => kv.version),
    pair((kv) => kv.createRevision),
    pair((kv) => kv.modRevision),
  ];
  const again = from !== undefined && to !== undefined && from.createRevision !== to.createRevision;
  const line = [
    `${MARKS[change.change]} ${name} version ${version}, created ${created}${again ? ' (deleted between)' : ''}, modified ${modified}\n`,
    ...differences.map((each) => `    ${each}\n`),
  ].join('');
  return {
    line,
    cells: [change.change, name, version, created, modified, differences.join('; ')],
    json: {
      key: Buffer.from(key).toString('base64'),
      change: change.change,
      ...(from === undefined ? {} : { from: placeOf(from) }),
      ...(to === undefined ? {} : { to: placeOf(to) }),
      differences,
    },
  };
}

const placeOf = ({ version, createRevision, modRevision, lease }: mvccpb.KeyValue): object => ({
  version,
  createRevision,
  modRevision,
  lease,
});
