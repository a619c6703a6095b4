import { mutants } from './catalogue.ts';
import { followedStageMutants } from './stage-catalogue.ts';
import { peerMutants } from './peer-catalogue.ts';
import type { Mutant } from './mutant.ts';
import { readMutants } from './read-catalogue.ts';
import { membersUsersMutants, usersMutants } from './users-catalogue.ts';

const member = 'packages/member/src';
const backend = 'packages/backend/src';

/** Defects that members of this store have had, put back. */
const past: readonly Mutant[] = [
  {
    name: 'follower-ahead-of-its-leader',
    what: 'a follower without a stream reads the log, and takes batches of which the leader does not know yet',
    edits: [
      {
        file: `${member}/follower.ts`,
        find: 'const end = known === undefined ? undefined : await this.#options.endOf(known, signal);',
        replace:
          'await this.#readLog(Number.MAX_SAFE_INTEGER as LogPosition, signal);\n        const end = replica.next;',
      },
      {
        file: `${member}/follower.ts`,
        find: 'const { leader, clock, memberId, logger } = this.#options;',
        replace: 'const { leader, clock, memberId, logger, replica } = this.#options;',
      },
    ],
  },
  {
    name: 'recovered-shown-early',
    what: 'a member that has just started answers from what its leader does not know of yet',
    edits: [{ file: `${member}/read-index.ts`, find: 'if (this.#isKnown) {', replace: '{' }],
  },
  {
    name: 'unwritten-unconfirmed',
    what: 'a deposed leader answers transactions that change nothing',
    edits: [
      {
        file: `${backend}/write/write-path.ts`,
        find: 'const proven = showsState === true && confirm !== undefined ?',
        replace: 'const proven = showsState === null && confirm !== undefined ?',
      },
    ],
  },
  {
    name: 'refusal-unconfirmed',
    what: 'a deposed leader refuses by what it knows',
    edits: [
      {
        file: `${backend}/lead/confirmed-refusal.ts`,
        find: 'if (isEngramError(error) && restsOnState.has(error.code)) await confirm?.();',
        replace: 'void restsOnState;',
      },
      {
        file: `${backend}/write/write-path.ts`,
        find: '      if (confirm === undefined) refuse(error);\n      else confirm',
        replace: '      if (confirm !== null) refuse(error);\n      else confirm',
      },
    ],
  },
  {
    name: 'leader-for-itself',
    what: 'a member that lost the election during its takeover takes itself for the leader',
    edits: [
      {
        file: `${member}/transition-driver.ts`,
        find: 'if (leader === self && epoch(term) === inEpoch) known',
        replace: 'void leader;\n    void epoch(term);\n    known',
      },
    ],
  },
  {
    name: 'done-again-in-a-later-epoch',
    what: 'a write that was sent again is done by the same member in a later epoch, though it was done in an earlier one',
    edits: [
      {
        file: `${member}/leader-calls.ts`,
        find: "    if (request.epoch !== leadership.epoch) return peerpb.encodeAnswer({ error: 'NotLeader' });\n",
        replace: '',
      },
    ],
  },
  {
    name: 'reads-before-it-applies',
    what: 'a leader answers reads although followers have applied more',
    edits: [
      {
        file: `${member}/leadership-proof.ts`,
        find: '    await applied.reach(replica.next, timeoutMs);\n',
        replace: '',
      },
    ],
  },
  {
    name: 'late-copy-done-again',
    what: 'a copy of a write that comes on an old connection when the write was answered is done again',
    edits: [
      {
        file: `${member}/kept-answers.ts`,
        find: '    if (sequence < life.settled || sequence - life.settled >= UNSETTLED_MAX) return undefined;\n',
        replace: '    if (sequence < life.settled) return perform();\n',
      },
    ],
  },
  {
    name: 'recalls-what-is-compacted',
    what: 'a transaction that is decided again from the log reads revisions that were compacted meanwhile',
    edits: [
      {
        file: `${backend}/read/recall-txn.ts`,
        find: "if (at < this.#replica.state.compactRevision) throw new EngramError('TimeoutDueToLeaderFail');",
        replace: 'void this.#replica.state.compactRevision;',
      },
    ],
  },
  {
    name: 'overtaken-takeover-goes-on',
    what: 'a takeover applies what a later leader has appended behind its seal',
    edits: [
      {
        file: `${backend}/backend.ts`,
        find: 'if (batch.first >= end) throw',
        replace: 'if (batch.first < 0) throw',
      },
    ],
  },
  {
    name: 'stopped-by-the-leader',
    what: 'a follower takes the end of its leader for its own',
    edits: [{ file: `${member}/remote-leader.ts`, find: " || answer.error === 'Stopped'", replace: '' }],
  },
];

/** Defects that they might have. */
const possible: readonly Mutant[] = [
  {
    name: 'no-fence',
    what: 'the log takes what a deposed leader appends',
    edits: [
      { file: 'packages/storage/src/sealing.ts', find: 'return !sameSeal(held, by);', replace: 'return held === by;' },
    ],
  },
  {
    name: 'equal-epoch-of-another',
    what: 'a seal of the same epoch by another member is taken for one’s own (epochs are made to meet: terms never do)',
    edits: [
      {
        file: 'packages/storage/src/sealing.ts',
        find: 'if (sameSeal(held, asked)) return false;',
        replace: 'if (held.epoch === asked.epoch) return false;',
      },
      {
        file: 'packages/storage/src/sealing.ts',
        find: 'return !sameSeal(held, by);',
        replace: 'return held.epoch > by.epoch;',
      },
      {
        file: `${backend}/backend.ts`,
        find: 'const end = await storage.log.seal({ epoch, holder: memberId });',
        replace:
          'const end = await storage.log.seal({ epoch: Math.ceil(epoch / 2) as typeof epoch, holder: memberId });',
      },
      {
        file: `${backend}/lead/leadership.ts`,
        find: 'seal: { epoch: options.epoch, holder: options.memberId },',
        replace: 'seal: { epoch: Math.ceil(options.epoch / 2) as typeof options.epoch, holder: options.memberId },',
      },
    ],
  },
  {
    name: 'tail-before-seal',
    what: 'a takeover reads the end of the log before it seals it',
    edits: [
      {
        file: `${backend}/backend.ts`,
        find: '      const end = await storage.log.seal({ epoch, holder: memberId });\n      onSealed?.();\n      await this.#readTo(end);\n',
        replace:
          '      for await (const batch of storage.log.read(this.replica.next, this.#neverAborted)) await this.replica.follow(batch);\n      await this.replica.whenApplied();\n      await storage.log.seal({ epoch, holder: memberId });\n      onSealed?.();\n',
      },
    ],
  },
  {
    name: 'revision-again-after-takeover',
    what: 'a new leader assigns the last revision of the one before again',
    edits: [
      {
        file: `${backend}/write/write-path.ts`,
        find: '      revision: state.revision,\n',
        replace: '      revision: Math.max(1, state.revision - 1) as typeof state.revision,\n',
      },
    ],
  },
  {
    name: 'keep-alive-unconfirmed',
    what: 'a leader renews leases without a quorum that says that it still leads',
    edits: [
      {
        file: `${member}/leader-calls.ts`,
        find: '      await this.#leadsNow(caller);\n      const { ids }',
        replace: '      const { ids }',
      },
      {
        file: `${backend}/backend.ts`,
        find: 'const confirmed = proposals === this.#current.leadership ? this.#leadsNow(caller) : undefined;',
        replace: 'const confirmed = undefined as Promise<void> | undefined;',
      },
    ],
  },
  ...readMutants,
  {
    name: 'forwarded-write-twice',
    what: 'a write that a follower sends again is done again',
    edits: [
      {
        file: `${member}/kept-answers.ts`,
        find: 'let answer = answers.get(sequence);',
        replace: 'let answer = answers.get(-sequence);',
      },
    ],
  },
  {
    name: 'absent-before-the-seal',
    what: 'a follower settles a write before the next leader has said how far the log had come',
    edits: [
      {
        file: `${member}/remote-leader.ts`,
        find: '        if (!(await this.#caughtUpWith(known, sentTo, deadlineMs, caller))) continue;\n',
        replace: '        void this.#caughtUpWith;\n',
      },
    ],
  },
  {
    name: 'follower-skips-a-batch',
    what: 'a follower leaves out a batch now and then',
    edits: [
      {
        file: `${backend}/replica/replica.ts`,
        find: 'this.apply(writes, endOf(batch), recordBytes(batch.records));',
        replace: 'this.apply(batch.first % 11 === 7 ? [] : writes, endOf(batch), recordBytes(batch.records));',
      },
    ],
  },
  {
    name: 'compacts-what-it-has-applied',
    what: 'a leader refuses to compact what a follower has shown and it has yet to apply',
    scenario: 'apply-behind-others',
    edits: [
      {
        file: `${backend}/lead/leader-decisions.ts`,
        find: '    if (wanted > this.#options.replica.revision) await this.#options.writes.whenApplied();\n',
        replace: '',
      },
    ],
  },
  {
    name: 'follower-publishes-nothing',
    what: 'a follower applies batches and tells its watchers nothing: a stage is left out there',
    edits: [
      {
        file: `${backend}/publish/publisher.ts`,
        find: '    for (const { group } of writes) if (group !== undefined) groups.push(group);\n',
        replace:
          "    for (const write of writes) if (write.group !== undefined && 'told' in write) groups.push(write.group);\n",
      },
    ],
  },
  {
    name: 'fed-before-committed',
    what: 'followers get a batch when it leaves for the log',
    edits: [
      {
        file: `${member}/committed-feed.ts`,
        find: `    const outcome = await this.#log.append(batch, seal);
    if (outcome.kind === 'committed') {
      const { first, records } = batch;
      this.#feed.push({ first, records, chain: this.#log.chainAt?.(endOf(batch)) });
    }
`,
        replace: `    void endOf;
    this.#feed.push({ first: batch.first, records: batch.records });
    const outcome = await this.#log.append(batch, seal);
`,
      },
    ],
  },
  {
    name: 'uncertain-is-committed',
    what: 'an append without an answer counts as committed',
    scenario: 'pause-in-settlement',
    edits: [
      {
        file: 'packages/retry-queue/src/retry-queue.ts',
        find: "return outcome.kind === 'uncertain' ? await this.#settle(batch, seal, outcome.cause) : outcome;",
        replace:
          "return outcome.kind === 'uncertain' ? ((await this.#settle(batch, seal, outcome.cause)), { kind: 'committed' }) : outcome;",
      },
    ],
  },
  {
    name: 'uncertain-is-fenced',
    what: 'an append without an answer counts as fenced',
    edits: [
      {
        file: 'packages/retry-queue/src/retry-queue.ts',
        find: "return outcome.kind === 'uncertain' ? await this.#settle(batch, seal, outcome.cause) : outcome;",
        replace: "return outcome.kind === 'uncertain' ? { kind: 'fenced' } : outcome;",
      },
    ],
  },
  {
    name: 'answered-before-applied',
    what: 'a follower answers a write before it has applied it itself',
    edits: [
      {
        file: `${member}/remote-leader.ts`,
        find: 'return reached === undefined ? answer : reached.then(() => answer);',
        replace: 'return answer;',
      },
    ],
  },
  {
    name: 'image-waits-for-nobody',
    what: 'an image is published though members have yet to apply the compaction that it rests on',
    edits: [
      {
        file: 'packages/member/src/image-keeper.ts',
        find: 'if (needed === undefined || needed >= applied) return;',
        replace: 'if (needed === undefined || needed >= 0) return;',
      },
    ],
  },
  {
    name: 'trim-below-a-member',
    what: 'an image waits for no member, and the log is trimmed up to it though a member has yet to read what lies before',
    edits: [
      {
        file: 'packages/member/src/image-keeper.ts',
        find: 'if (needed === undefined || needed >= applied) return;',
        replace: 'if (needed === undefined || needed >= 0) return;',
      },
      {
        file: 'test/sim/cluster/cluster-images.ts',
        find: 'const before = needed !== undefined && needed < seen.image.from ? needed : seen.image.from;',
        replace: 'const before = seen.image.from;',
      },
    ],
  },
  {
    name: 'image-of-a-deposed-writer',
    what: 'a deposed leader publishes the image that it was writing',
    edits: [
      {
        file: 'test/sim/cluster/cluster-images.ts',
        find: "if (!this.#holds || images.claimed !== round) return 'deposed';",
        replace: 'void round;',
      },
    ],
  },
  {
    name: 'image-forgets-readers',
    what: 'a member says that it needs no more of the log than it has applied, though a reader is below a compaction',
    edits: [
      {
        file: `${backend}/replica/replica.ts`,
        find: 'if (!this.pins.holdsBelow(this.state.compactRevision)) this.#needed',
        replace: 'this.#needed',
      },
    ],
  },
  {
    name: 'image-keeps-dirty-pages',
    what: 'an image keeps a page that begins with the right version, whatever has changed behind it',
    edits: [
      {
        file: `${backend}/image/page-cutter.ts`,
        find: '    if (!this.#base.has(positions)) return undefined;\n',
        replace: '',
      },
    ],
  },
  {
    name: 'image-loses-changed-keys',
    what: 'an image leaves keys out that change while it is written, not only those that are created',
    edits: [
      {
        file: `${backend}/image/shared-image.ts`,
        find: '(oldest.version === 1 && oldest.position >= applied)',
        replace: 'versions.at(-1)!.position >= applied',
      },
    ],
  },
  {
    name: 'image-forgets-tombstones',
    what: 'the pages of an image lack the tombstones that history still shows',
    edits: [
      {
        file: `${backend}/image/shared-image.ts`,
        find: 'for (const { position, bytes } of versions) pages.add(',
        replace: 'for (const { position, bytes, tombstone } of versions) if (!tombstone) pages.add(',
      },
    ],
  },
  {
    name: 'timeout-at-once',
    what: 'every seventh forwarded write is done and answered Timeout at once',
    edits: [
      {
        file: `${member}/leader-calls.ts`,
        find: '      return peerpb.encodeAnswer({ ...answer, position: backend.replica.applied, epoch });',
        replace:
          "      if (request.sequence > 0 && request.sequence % 7 === 3) return peerpb.encodeAnswer({ error: 'Timeout' });\n      return peerpb.encodeAnswer({ ...answer, position: backend.replica.applied, epoch });",
      },
    ],
  },
  {
    name: 'recall-throws',
    what: 'a write whose answer was lost, and that is found in the log, ends with a TypeError',
    edits: [
      {
        file: `${backend}/read/recall-txn.ts`,
        find: '  const before = toRevision(group.revision - 1);\n',
        replace:
          "  const before = toRevision(group.revision - 1);\n  if (before >= 0) throw new TypeError('cannot read properties of undefined');\n",
      },
    ],
  },
];

/** Of the node's, those that meet a cluster where one leader follows another. */
const alsoOfNodes = [
  'undo-forgets-leased-keys',
  'undo-in-order',
  'lease-granted-before-durable',
  'progress-early',
  'revision-assigned-twice',
  'takeover-extends-no-lease',
  'cache-remembers-undone-writes',
  'answer-before-durable',
];

export const clusterMutants: readonly Mutant[] = [
  ...past,
  ...possible,
  ...peerMutants,
  ...followedStageMutants,
  ...usersMutants,
  ...membersUsersMutants,
  ...mutants.filter(({ name }) => alsoOfNodes.includes(name)),
];
