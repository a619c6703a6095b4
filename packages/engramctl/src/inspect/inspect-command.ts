import { utf8 } from '@engram/core';
import { badArguments, CtlError, messageOf } from '../cli/ctl-error.ts';
import type { Command, CommandRun } from '../cli/command.ts';
import { notesOf } from '../cli/notes.ts';
import { connectionsOf, firstClient } from '../client/connections.ts';
import { jsonLine } from '../print/json.ts';
import { directoryContent } from './directory-content.ts';
import { fileContent, whatIsAt } from './file-content.ts';
import { keyJson, keyLine, treeJson, treeTable, treeText } from './inspect-text.ts';
import { liveContent } from './live-content.ts';
import type { StoreContent } from './stored-key.ts';
import { Tally } from './tally.ts';

export const inspectCommand: Command = {
  name: 'inspect',
  arguments: '[flags] [FILE]',
  group: 'data',
  short: 'Shows what Kubernetes stores: sizes, counts and changes by resource and namespace',
  long: `Decodes what Kubernetes stores (protobuf with its envelope, JSON of custom resources, the marker of encryption at rest), and
prints a tree of sizes, counts and changes by resource and namespace. Changes nothing.

Without FILE it reads the live store of --endpoints, all at one revision. FILE is a snapshot of etcd or Engram, or the data
directory of an etcd or an Engram that does not run; then the history that it keeps is counted, too. Of a data directory of Engram
a copy is made below $TMPDIR, and removed. Keys are read a page at a time.`,
  flags: [
    { name: 'prefix', kind: 'string', value: '', help: 'only keys that begin with this' },
    {
      name: 'etcd-prefix',
      kind: 'string',
      value: '/registry',
      help: "kube-apiserver's flag: what is before the resource in a key",
    },
    { name: 'decode', kind: 'bool', value: 'false', help: 'print a line for each key instead of the tree' },
    { name: 'top', kind: 'int', value: '20', help: 'resources, and namespaces of each, that the tree shows' },
    {
      name: 'skip-hash-check',
      kind: 'bool',
      value: 'false',
      help: 'take a FILE without a hash, as a data directory has it',
    },
  ],
  args: { min: 0, max: 1 },
  completes: 'files',
  run: inspect,
};

async function inspect(run: CommandRun): Promise<number> {
  const { flags, args, signal } = run;
  if (flags.int('top') < 1) throw badArguments('--top must be 1 at least');
  const prefix = utf8(flags.text('prefix'));
  const [path] = args;
  if (path === undefined) {
    using client = await firstClient(await connectionsOf(run), signal);
    await print(run, await liveContent(client, prefix, signal));
    return 0;
  }
  const found = whatIsAt(path, flags.bool('skip-hash-check'));
  const { ConfigError, SnapshotFile, StoppedStore } = await import('@engram/server');
  if (found.kind === 'directory') {
    await using store = await StoppedStore.open(found.path, { logger: notesOf(run.printer), signal }).catch((cause) => {
      throw cause instanceof ConfigError ? new CtlError('invalid-input', messageOf(cause), { cause }) : cause;
    });
    await print(run, await directoryContent(found.path, store, prefix, signal));
    return 0;
  }
  using file = SnapshotFile.open(found.path);
  const { skipHashCheck } = found;
  await print(run, await fileContent(found.path, file, { prefix, skipHashCheck, signal }));
  file.checkUnchanged();
  return 0;
}

async function print(run: CommandRun, content: StoreContent): Promise<void> {
  const { flags, form, printer, signal } = run;
  const hex = flags.bool('hex');
  if (flags.bool('decode')) {
    for await (const { keys } of content.pages) {
      signal.throwIfAborted();
      const lines = keys.map((stored) => (form === 'json' ? jsonLine(keyJson(stored)) : keyLine(stored, hex)));
      if (lines.length > 0) await printer.out(lines.join(''));
    }
    return;
  }
  const tally = new Tally(flags.text('etcd-prefix'));
  for await (const page of content.pages) {
    signal.throwIfAborted();
    tally.add(page);
  }
  const { name, revision, compactRevision } = content;
  const head = { name, revision, compactRevision };
  const options = { top: flags.int('top'), hex };
  if (form === 'json') await printer.out(jsonLine(treeJson(head, tally)));
  else await printer.out(form === 'table' ? treeTable(tally, options) : treeText(head, tally, options));
}
