import type { Mutant } from './mutant.ts';

const backend = 'packages/backend/src';

/** Defects that this store has had, put back. */
export const past: readonly Mutant[] = [
  {
    name: 'garbage-out-of-order',
    what: 'a replay behind a checkpoint queues garbage out of the order of revisions: deleted values show again',
    edits: [
      {
        file: 'packages/index/src/garbage-queue.ts',
        find: '    for (const slot of yield* sortByRevision(slots, this.#versions, turn)) {\n      this.#push(queue, slot);\n',
        replace: '    for (const slot of slots) {\n      queue.push(slot);\n',
      },
      {
        file: 'packages/index/src/garbage-queue.ts',
        find: "    assert(\n      last === NO_VERSION || this.#versions.mod(last) <= this.#versions.mod(slot),\n      'garbage is queued out of the order of revisions',\n    );\n",
        replace: 'void last;\n',
      },
    ],
  },
  {
    name: 'pin-outlives-timeout',
    what: 'a transaction that is answered Timeout never gives its pin back: compaction waits for ever',
    edits: [
      {
        file: `${backend}/decide/write.ts`,
        find: '    this.#pin?.[Symbol.dispose]();\n    this.#end.reject(error);',
        replace: '    this.#end.reject(error);',
      },
    ],
  },
  {
    name: 'effect-only-with-the-answer',
    what: 'a compaction or an alarm that is answered Timeout is durable and has no effect',
    edits: [
      {
        file: `${backend}/apply/applier.ts`,
        find: '      state.apply(write);\n',
        replace:
          "      if (!(write as { told?: boolean }).told || !['compact', 'alarm'].includes(mark?.kind ?? '')) state.apply(write);\n",
      },
    ],
  },
  {
    name: 'half-decided-goes-on',
    what: 'a value that left the cache throws in the middle of a transaction, and the node goes on: keys get other values',
    edits: [
      {
        file: `${backend}/decide/needed-values.ts`,
        find: 'const kv = this.#found.get(position) ?? this.#passing.get(position);',
        replace: 'const kv = this.#replica.bytes.peek(position);',
      },
      {
        file: `${backend}/write/path-end.ts`,
        find: "    const fatal = new Error('a write was left half decided', { cause });",
        replace: '    if (!this.halted) return cause as EngramError;\n    const fatal = new Error(String(cause));',
      },
      {
        file: `${backend}/decide/needed-values.ts`,
        find: 'assert(kv !== undefined, ',
        replace: "if (kv === undefined) throw new TypeError('Cannot read properties of undefined');\n    assert(true, ",
      },
    ],
  },
  {
    name: 'pin-one-too-high',
    what: 'a range before a put in one transaction pins the revision of the put: compaction drops what it still has to read',
    edits: [
      {
        file: 'packages/sequencer/src/sequencer.ts',
        find: 'const pinned = at < change.revision ? at : this.#assigned;',
        replace: 'const pinned = at;',
      },
    ],
  },
  {
    name: 'compaction-decided-before-admission',
    what: 'after TooManyRequests every retry of a compaction says Compacted, and nothing was',
    edits: [
      {
        file: `${backend}/lead/leader-decisions.ts`,
        find: '    writes.admit();\n    this.#compactDecided = target;\n',
        replace: '    this.#compactDecided = target;\n    writes.admit();\n',
      },
    ],
  },
  {
    name: 'lease-granted-before-durable',
    what: 'leases that are not durable show in lists, and live on in the state when the leadership ends',
    edits: [
      {
        file: `${backend}/lead/lease-decisions.ts`,
        find: '    pending.decide(id, true);\n',
        replace:
          '    pending.decide(id, true);\n    this.#options.lessor.grant(id, grantedTtlSeconds, this.#options.clock.nowMs());\n',
      },
    ],
  },
  {
    name: 'refusal-before-durable',
    what: 'a transaction is refused because of a write that is under way and may never be durable',
    edits: [
      {
        file: `${backend}/write/write-path.ts`,
        find: '    else this.#afterOthers(write, told);\n',
        replace: '    else told();\n',
      },
    ],
  },
  {
    name: 'garbage-forgotten-while-it-is-told',
    what: 'a checkpoint that is taken while storage is told of garbage does not name it: a crash leaves it for ever',
    edits: [{ file: `${backend}/checkpoint/garbage.ts`, find: '    this.#dropping = dropping;\n', replace: '' }],
  },
  {
    name: 'halt-wakes-nobody',
    what: 'a step-down during a stop leaves the stop waiting for ever',
    edits: [
      {
        file: 'packages/writer/src/writer.ts',
        find: '    if (!this.#appending) this.#idle.wakeAll();\n    return open;',
        replace: '    return open;',
      },
    ],
  },
  {
    name: 'expiry-ends-the-successor',
    what: 'a lease that was granted again while the end of the one before was under way is ended by it',
    scenario: 'grant-behind-end',
    edits: [
      {
        file: `${backend}/lead/lease-decisions.ts`,
        find: '    if (pending.isChanging(id)) return Promise.resolve(false);\n',
        replace: '',
      },
      {
        file: `${backend}/lead/lease-decisions.ts`,
        find: '    if (pending.isChanging(id) || lessor.remainingMs(id, clock.nowMs()) !== 0) return { answer: () => false };\n',
        replace: '    void [pending, lessor, clock];\n',
      },
      {
        file: `${backend}/lead/lease-decisions.ts`,
        find: '(pending.isChanging(id) ? writes.whenApplied() : this.expire(id))',
        replace: '(pending.has(id) ? this.expire(id) : writes.whenApplied())',
      },
    ],
  },
  {
    name: 'cache-remembers-undone-writes',
    what: 'after a step-down the cache still holds writes that never were, at the positions of the next ones',
    edits: [
      { file: `${backend}/write/write-path.ts`, find: '    replica.cache.forgetPending(replica.next);\n', replace: '' },
    ],
  },
  {
    name: 'snapshot-before-writes',
    what: 'at the quota, writes time out while a client reads a snapshot of what was compacted away',
    edits: [
      {
        file: `${backend}/lead/space-keeper.ts`,
        find: '        if (clock.nowMs() >= heldUntilMs) endHolds();\n',
        replace: '        void [endHolds, heldUntilMs];\n',
      },
    ],
    test: {
      file: 'packages/backend/test/space.test.ts',
      why: 'in one run of several thousand a client reads that slowly where the space is bounded',
    },
  },
  {
    name: 'renewal-refused-for-another',
    what: 'a renewal that waits for a revoke is told that the caller of the revoke may not make it',
    edits: [
      {
        file: `${backend}/lead/lease-decisions.ts`,
        find: "  'PermissionDenied',\n",
        replace: '',
      },
    ],
    test: {
      file: 'packages/backend/test/write-rights.test.ts',
      why: 'in one run of many thousand such a renewal comes before the lease is ended by its time',
    },
  },
  {
    name: 'refuses-an-unlisted-leader',
    what: 'a member that was away while the leader was added never follows it',
    edits: [
      {
        file: 'packages/election/src/message-fault.ts',
        find: 'isOfLeader(message) && mayLackLeader(receiver)',
        replace: 'isOfLeader(message) && mayLackLeader(receiver) && message.term < receiver.term',
      },
    ],
    test: {
      file: 'packages/election/test/membership.test.ts',
      why: 'in one run of several thousand a member that has joined leads before another one has heard of it',
    },
  },
];
