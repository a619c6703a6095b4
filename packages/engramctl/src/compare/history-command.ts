import type { KeyRange } from '@engram/core';
import { mvccpb } from '@engram/wire';
import { badArguments } from '../cli/ctl-error.ts';
import type { Command, CommandRun } from '../cli/command.ts';
import { connectionsOf, firstClient } from '../client/connections.ts';
import type { EtcdClient } from '../client/etcd-client.ts';
import { type HistoryPart, watchHistory } from '../client/watch-history.ts';
import { formName } from '../inspect/tally.ts';
import { kubeValue } from '../kube/kube-value.ts';
import { counted, shownBytes, shownText, sizeText } from '../print/shown.ts';
import { compactedError, currentRevision, prefixFlag, rangeOf, valuesFlag } from './revisions.ts';
import { type Row, RowPrinter } from './row-printer.ts';
import { valueDifferences } from './value-differences.ts';

const HEADS = ['REVISION', 'CHANGE', 'KEY', 'VERSION', 'SIZE', 'VALUE'] as const;

export const historyCommand: Command = {
  name: 'history',
  arguments: '[flags] KEY',
  group: 'data',
  short: 'Lists the changes of a key or a prefix, from a revision on',
  long: `Lists every change of a key, or with --prefix of all keys that begin with it, in the order of the revisions. Without --rev it
begins with the oldest revision that is not compacted.`,
  flags: [
    prefixFlag,
    { name: 'rev', kind: 'int', value: '0', help: 'the first revision (0: the oldest that is there)' },
    { name: 'to-rev', kind: 'int', value: '0', help: 'the last revision (0: the newest)' },
    { name: 'limit', kind: 'int', value: '0', help: 'at most so many changes (0: all)' },
    valuesFlag,
  ],
  args: { min: 1, max: 1 },
  run: history,
};

async function history(run: CommandRun): Promise<number> {
  const { flags, args, printer, signal } = run;
  const range = rangeOf(args[0] ?? '', flags);
  const [first, last] = ['rev', 'to-rev'].map((name) => flags.int(name) || undefined);
  if ((first ?? 1) < 0 || (last ?? 1) < 0) throw badArguments('revisions begin at 1');
  const limit = flags.int('limit');
  if (limit < 0) throw badArguments('--limit is below 0');
  using client = await firstClient(await connectionsOf(run), signal);
  const newest = await currentRevision(client, range, signal);
  const to = Math.min(last ?? newest, newest);
  const from = first ?? 1;
  if (from > to) {
    if (last !== undefined && from > last) throw badArguments(`--to-rev ${last} is before --rev ${from}`);
    throw badArguments(`--rev ${from} is a future revision: the store is at ${newest}`);
  }
  const rows = new RowPrinter(run, HEADS);
  let shown = 0;
  for await (const event of eventsOf(run, client, { range, from, to }, first !== undefined)) {
    await rows.print(rowOf(event, flags.bool('values'), flags.bool('hex')));
    shown += 1;
    if (shown === limit) break;
  }
  await rows.end();
  await printer.note(`${counted(shown, 'change')} up to revision ${to}\n`);
  return 0;
}

/** The events, from the oldest revision that is there if none was asked for. */
async function* eventsOf(
  { flags, printer, signal }: CommandRun,
  client: EtcdClient,
  { range, from, to }: { readonly range: KeyRange; readonly from: number; readonly to: number },
  isAsked: boolean,
): AsyncGenerator<mvccpb.Event> {
  const prevKv = flags.bool('values');
  const parts = (at: number): AsyncGenerator<HistoryPart> =>
    watchHistory(client, { range, from: at, to, prevKv }, signal);
  for await (const part of parts(from)) {
    if (part.kind === 'events') {
      yield* part.events;
      continue;
    }
    const { oldest } = part;
    if (isAsked) throw compactedError(oldest);
    await printer.note(`the history below revision ${oldest} has been compacted\n`);
    if (oldest > to) return;
    for await (const later of parts(oldest)) {
      if (later.kind === 'compacted') throw compactedError(later.oldest); // another compaction, just now
      yield* later.events;
    }
  }
}

function rowOf({ type, kv = mvccpb.newKeyValue(), prevKv }: mvccpb.Event, values: boolean, hex: boolean): Row {
  const { key, value, version, modRevision, createRevision, lease } = kv;
  const name = shownBytes(key, hex);
  const isPut = type === mvccpb.EventEventType.PUT;
  const change = isPut ? (version === 1 ? 'create' : 'put') : 'delete';
  const form = isPut ? shownText(formName(kubeValue(value)), 80) : '';
  const differences = values && isPut && prevKv !== undefined ? valueDifferences(prevKv.value, value) : [];
  const detail = isPut ? ` version ${version}, ${sizeText(value.length)} ${form}` : '';
  return {
    line: [`${modRevision} ${change.padEnd(6)} ${name}${detail}\n`, ...differences.map((each) => `    ${each}\n`)].join(
      '',
    ),
    cells: [String(modRevision), change, name, isPut ? String(version) : '', isPut ? sizeText(value.length) : '', form],
    json: {
      revision: modRevision,
      change,
      key: Buffer.from(key).toString('base64'),
      ...(isPut ? { version, createRevision, valueBytes: value.length, lease, form } : {}),
      ...(values ? { differences } : {}),
    },
  };
}
