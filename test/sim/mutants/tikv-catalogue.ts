import type { Edit, Mutant } from './mutant.ts';

const storage = 'packages/storage-tikv/src';
const member = 'packages/member/src';
const election = 'packages/election/src';

const trimDeletesSeals: Edit = {
  file: `${storage}/needs/log-trim.ts`,
  find: 'await client.admin.deleteRange(keys.segmentStart(segment), keys.seal(segment), { signal, timeoutMs });',
  replace: `const start = segment === 1 ? keys.segmentStart(1) : keys.seal(segment - 1);
      await client.admin.deleteRange(start, keys.seal(segment), { signal, timeoutMs });`,
};

/** Defects that members of this store have had, put back. */
const past: readonly Mutant[] = [
  {
    name: 'trim-deletes-seals',
    what: 'a trim deletes the seals that refuse what a deposed leader of a deleted segment still sends',
    edits: [trimDeletesSeals],
  },
  {
    name: 'timestamps-not-compared',
    what: 'neither a start nor a takeover looks whether the timestamps of PD show what the log holds',
    edits: [
      {
        file: `${storage}/open.ts`,
        find: 'await reaching(source, () => checkStart(source, never));',
        replace: '',
      },
      {
        file: `${storage}/log/log-writer.ts`,
        find: 'if (!(await checkBirth(source, view, this.#timeoutMs(endMs), never))) continue;',
        replace: '',
      },
      {
        file: `${storage}/log/log-tail.ts`,
        find: 'await checkEnd(source, segment, tail, before, timeoutMs, signal);',
        replace: '',
      },
    ],
  },
  {
    name: 'birth-from-pool',
    what: 'the birth of an epoch is a timestamp that was fetched ahead',
    edits: [
      {
        file: `${storage}/log/log-writer.ts`,
        find: 'birth = view.snapshot.timestamp;',
        replace: 'birth = await this.#options.timestamps.take({ timeoutMs: 1000 });',
      },
    ],
  },
  {
    name: 'old-committed-believed',
    what: 'the same, and a leader that was away believes that its append is in the log',
    edits: [
      trimDeletesSeals,
      {
        file: `${storage}/log/log-writer.ts`,
        find: 'if (nowMs - this.#heardMs > quietMaxMs) {',
        replace: 'if (nowMs < 0 && nowMs - this.#heardMs > quietMaxMs) {',
      },
    ],
  },
  {
    name: 'read-without-seal',
    what: 'a linearizable read is confirmed by a round of heartbeats alone',
    edits: [
      {
        file: `${member}/leadership-proof.ts`,
        find: 'const held = this.#checksOf(leadership.epoch).held();',
        replace: 'void this.#checksOf(leadership.epoch);\n    const held = Promise.resolve(true);',
      },
    ],
  },
  {
    name: 'second-process-votes',
    what: 'a process saves the Raft state of its member although a later one has taken it over',
    edits: [
      {
        file: `${storage}/tikv-raft-storage.ts`,
        find: 'if (found === undefined || ownerOf(found) !== this.#owner) {',
        replace: 'if (found === undefined) {',
      },
      {
        file: `${storage}/tikv-raft-storage.ts`,
        find: 'return found !== undefined && ownerOf(found) === this.#owner;',
        replace: 'return found !== undefined;',
      },
    ],
  },
  {
    name: 'replaced-lives-on',
    what: 'a process whose state another one has taken over learns of it only when it votes',
    edits: [
      {
        file: `${storage}/tikv-raft-storage.ts`,
        find: 'return found !== undefined && ownerOf(found) === this.#owner;',
        replace: 'return found !== undefined;',
      },
    ],
  },
  {
    name: 'fenced-what-is-in-the-log',
    what: 'an append that met a seal is fenced, although its batch came before the seal and was trimmed since',
    edits: [
      {
        file: `${storage}/log/log-writer.ts`,
        find: "return segment < root.segment && batch.first < root.trimmed ? { kind: 'trimmed' } : { kind: 'fenced' };",
        replace: "void root;\n    void batch;\n    void segment;\n    return { kind: 'fenced' };",
      },
      {
        file: `${storage}/log/log-writer.ts`,
        find: "if (batch.first < (await readImageRoot(source, never)).trimmed) return { kind: 'trimmed' };",
        replace: '',
      },
      {
        file: `${storage}/log/log-writer.ts`,
        find: 'if (damage !== undefined) throw damage;',
        replace: "if (damage !== undefined) return { kind: 'fenced' };",
      },
    ],
    schedules: { why: 'a seal and a trim come while an append has no answer' },
  },
  {
    name: 'shared-question-of-another',
    what: 'a call that waits for the address of a store ends with the error of the call that asked',
    edits: [
      {
        file: 'packages/tikv-client/src/region/store-pool.ts',
        find: 'if (own || !(error instanceof TikvError)) throw error;',
        replace: 'void own;\n        throw error;',
      },
    ],
  },
  {
    name: 'others-keep-their-state',
    what: 'a member that goes on alone does not take over the Raft states of the others',
    edits: [
      {
        file: `${election}/membership/lone-survivor.ts`,
        find: '      const state = await storage.load();\n',
        replace: '      if (id !== self.id) continue;\n      const state = await storage.load();\n',
      },
    ],
  },
];

/** Defects of the kinds that this storage must not have. */
const made: readonly Mutant[] = [
  {
    name: 'unverified-image',
    what: 'an image is published, and the log trimmed, before it was read back',
    edits: [{ file: `${storage}/tikv-image.ts`, find: 'await writer.verify();', replace: '' }],
  },
  {
    name: 'retry-behind-seal',
    what: 'an append that is tried again does not look at the seal',
    edits: [
      {
        file: `${storage}/log/log-writer.ts`,
        find: 'const insert = { key, value: values[part]!, unless, again };',
        replace: 'const insert = { key, value: values[part]!, unless: again ? undefined : unless, again };',
      },
    ],
  },
  {
    name: 'batch-looked-for-before-the-seal',
    what: 'an append without an answer looks for its batch first, and then for the seal, which others may follow in between',
    edits: [
      {
        file: `${storage}/log/one-phase.ts`,
        find: 'const other = unless === undefined ? undefined : await client.get(unless, call);\n  const there = await client.get(key, call);',
        replace:
          'const there = await client.get(key, call);\n  const other = unless === undefined ? undefined : await client.get(unless, call);',
      },
    ],
    test: {
      file: 'packages/storage-tikv/test/full-stores.test.ts',
      why: 'an append that comes late, and a takeover, must come between two reads',
    },
  },
  {
    name: 'look-of-unanswered-attempt-dropped',
    what: 'what a look has seen counts only where the stores answer the append with an error, and not where they do not answer',
    edits: [
      {
        file: `${storage}/log/one-phase.ts`,
        find: "({ kind }) => kind !== 'undetermined',",
        replace: '() => true,',
      },
    ],
    test: {
      file: 'packages/storage-tikv/test/full-stores.test.ts',
      why: 'the append is settled all the same when the stores answer again',
    },
  },
  {
    name: 'segments-taken-for-empty',
    what: 'a segment that a snapshot does not show, but a later one, is remembered as one without batches',
    edits: [
      {
        file: `${storage}/log/batch-locator.ts`,
        find: 'const isShown = key.segment === expected;',
        replace: 'expected = key.segment;\n      const isShown = key.segment === expected;',
      },
    ],
    test: {
      file: 'packages/storage-tikv/test/batch-locator.test.ts',
      why: 'a member hardly ever stands still between a timestamp and its reads while the leader fills a whole segment',
    },
  },
  {
    name: 'first-part-fenced',
    what: 'of a batch of several values only the first looks at the seal',
    edits: [
      {
        file: `${storage}/log/log-writer.ts`,
        find: 'const insert = { key, value: values[part]!, unless, again };',
        replace: 'const insert = { key, value: values[part]!, unless: part > 0 ? undefined : unless, again };',
      },
    ],
  },
  {
    name: 'tail-of-the-pool',
    what: 'a takeover looks for the end of the log at a timestamp that was fetched ahead',
    edits: [
      {
        file: `${storage}/log/log-tail.ts`,
        find: 'const snapshot = await source.client.snapshot({ signal, timeoutMs });\n  const tail = await findTail(source, snapshot, signal, segment);',
        replace: `const ahead = pool.get(source) ?? (await source.client.timestamp({ signal, timeoutMs }));
  pool.set(source, await source.client.timestamp({ signal, timeoutMs }));
  const snapshot = source.client.snapshotAt(ahead);
  const tail = await findTail(source, snapshot, signal, segment);`,
      },
      {
        file: `${storage}/log/log-tail.ts`,
        find: 'const ROWS = 2;',
        replace: 'const pool = new WeakMap<LogSource, bigint>();\nconst ROWS = 2;',
      },
    ],
  },
  {
    name: 'tail-of-before-the-seal',
    what: 'a takeover takes the end of the log that it has seen before its seal',
    edits: [
      {
        file: `${storage}/log/log-tail.ts`,
        find: 'const snapshot = await source.client.snapshot({ signal, timeoutMs });\n  const tail = await findTail(source, snapshot, signal, segment);',
        replace: `const tail = (looks.get(source) as LogTail | undefined) ?? (await lookAtTail(source, signal, { timeoutMs })).tail;
  looks.delete(source);`,
      },
      {
        file: `${storage}/log/log-tail.ts`,
        find: 'return { snapshot, tail: await findTail(source, snapshot, signal) };',
        replace:
          'const tail = await findTail(source, snapshot, signal);\n  looks.set(source, tail);\n  return { snapshot, tail };',
      },
      {
        file: `${storage}/log/log-tail.ts`,
        find: 'const ROWS = 2;',
        replace: 'const looks = new WeakMap<LogSource, LogTail>();\nconst ROWS = 2;',
      },
    ],
  },
  {
    name: 'roll-forgets-unsettled',
    what: 'a segment ends while an append is unsettled, as if it were not there',
    edits: [
      {
        file: `${storage}/log/log-writer.ts`,
        find: 'const begin = held.unsettled === undefined ? { next, logBytes, chain } : undefined;',
        replace:
          'const begin: { next: LogPosition; logBytes: number; chain: typeof chain } | undefined = { next, logBytes, chain };',
      },
    ],
  },
  {
    name: 'seal-of-another-process',
    what: 'an equal seal of another process is taken for the own one',
    edits: [
      {
        file: `${storage}/log/log-writer.ts`,
        find: 'return owner.opener === this.#options.opener && sameSeal(owner.seal, seal);',
        replace: 'return sameSeal(owner.seal, seal);',
      },
      {
        file: `${storage}/log/log-writer.ts`,
        find: 'if (!takesOver(owner.seal, seal, source.name) && owner.opener === opener) {',
        replace: 'void opener;\n      if (!takesOver(owner.seal, seal, source.name)) {',
      },
    ],
    schedules: { why: 'two processes of one member open the same segment' },
  },
  {
    name: 'need-too-high',
    what: 'a member reports that it needs less of the log than it does',
    edits: [
      {
        file: `${storage}/tikv-image.ts`,
        find: 'return this.#run(signal, (either) => this.#parts.needs.say(from, either));',
        replace: 'return this.#run(signal, (either) => this.#parts.needs.say((from + 8) as typeof from, either));',
      },
    ],
  },
  {
    name: 'trim-ignores-members',
    what: 'a trim does not wait for members that need the log',
    edits: [
      {
        file: `${storage}/needs/log-trim.ts`,
        find: 'const keep = needed !== undefined && needed < image.from ? needed : image.from;',
        replace: 'const keep = image.from;',
      },
    ],
    schedules: { why: 'a trim comes between two steps of a member that reads' },
  },
  {
    name: 'publish-without-claim',
    what: 'a round is published although a later one has begun',
    edits: [
      {
        file: `${storage}/image/image-writer.ts`,
        find: 'if (!mine || (root.image',
        replace: 'void mine;\n      if ((root.image',
      },
    ],
    test: {
      file: 'packages/storage-tikv/test/image-root-store.test.ts',
      why: 'the seal guards a round of a later epoch as well',
    },
  },
  {
    name: 'root-without-holder',
    what: "the image's root is changed by a node that was deposed",
    edits: [
      {
        file: `${storage}/image/image-root-store.ts`,
        find: 'if (seal !== undefined) {',
        replace: 'if (seal !== undefined && attempt < 0) {',
      },
    ],
    schedules: { why: 'a round is published behind the seal of a later epoch' },
  },
  {
    name: 'garbage-of-kept-pages',
    what: 'the pages that a published image has kept from earlier rounds are deleted as garbage',
    edits: [
      {
        file: `${storage}/image/image-garbage.ts`,
        find: "piece.kind === 'page' && pages !== undefined ? named.has(nameOf(piece)) : piece.round === published?.round;",
        replace: 'piece.round === published?.round;',
      },
    ],
  },
  {
    name: 'trims-one-too-many',
    what: 'a trim deletes the first batch that it should keep',
    edits: [
      {
        file: `${storage}/needs/log-trim.ts`,
        find: 'for (let segment = this.#deleted; segment < end; segment += 1) {',
        replace: 'for (let segment = this.#deleted; segment <= end; segment += 1) {',
      },
    ],
  },
  {
    name: 'undetermined-save-is-saved',
    what: 'a Raft save whose outcome is unknown counts as saved',
    edits: [
      {
        file: `${storage}/tikv-raft-storage.ts`,
        find: "if (settled.kind === 'committed') return written;",
        replace: 'void settled;\n          return written;',
      },
    ],
    schedules: { why: 'an answer to a save is lost in front of a takeover' },
  },
  {
    name: 'votes-before-the-save',
    what: 'messages that promise something leave before the Raft state is saved',
    edits: [
      {
        file: `${storage}/tikv-raft-storage.ts`,
        find: '    await this.#write((found) => {\n      if (found === undefined ||',
        replace: '    void this.#write((found) => {\n      if (found === undefined ||',
      },
    ],
  },
];

/** Defects of members on the real storage, which the third kind of seed must find. */
export const tikvMutants: readonly Mutant[] = [...past, ...made];
